import type { SessionRow } from "../../portable/model/index.ts";
import type { OperationOutput } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { policyOf, wantedOf } from "./wanted-checkpoints.ts";

/** Returns what is kept on standby for a session. */
export function describeStandby(session: SessionRow, engine: Engine): OperationOutput<"standby"> {
  const { reason } = engine.standbys.status();
  const isLive = engine.live.get(session.id) !== undefined;
  const wanted = isLive ? wantedOf(session, engine) : [];
  return {
    session: session.id,
    policy: policyOf(session, engine),
    isDefault: session.standby === null,
    ready: wanted.map(({ id }) => id).filter((id) => engine.standbys.has(id)),
    reason,
  };
}
