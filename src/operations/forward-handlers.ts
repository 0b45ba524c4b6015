import type { Engine } from "../engine/ports/index.ts";
import { forwardPort, listForwards, stopForward } from "../engine/session/index.ts";
import { resolveSession } from "../portable/lineage/index.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { withSession } from "./with-session.ts";

/** The handlers of ports of a session. */
export const FORWARD_HANDLERS: HandlersOf<"forward" | "forward.list" | "forward.stop"> = {
  forward: (input, engine, client) =>
    withSession(input.session, engine, client, (session) =>
      forwardPort(session, { ...input, to: resolveIfGiven(input.to, engine) }, engine),
    ),

  "forward.list": async (input, engine) => {
    const { session } = input;
    const row = session === undefined ? undefined : resolveSession(session, engine.catalog);
    return { forwards: listForwards(row, engine) };
  },

  "forward.stop": (input, engine, client) =>
    withSession(input.session, engine, client, async (session) =>
      stopForward(session, { ...input, to: resolveIfGiven(input.to, engine) }, engine),
    ),
};

function resolveIfGiven(reference: string | undefined, engine: Engine) {
  return reference === undefined ? null : resolveSession(reference, engine.catalog);
}
