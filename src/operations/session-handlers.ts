import { withApproval } from "../engine/approval/index.ts";
import { createCheckpoint } from "../engine/checkpoint/index.ts";
import type { Engine } from "../engine/ports/index.ts";
import {
  attachSession,
  createSession,
  describeSession,
  execInSession,
  listProcesses,
  removeSession,
  requireLive,
  stopSession,
} from "../engine/session/index.ts";
import { resolveSession } from "../portable/lineage/index.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { renameSession } from "./rename-session.ts";
import { startSession } from "./start-session.ts";
import { undoIfGone } from "./undo-if-gone.ts";
import { withSession } from "./with-session.ts";

/** The handlers of sessions and what runs in them. */
export const SESSION_HANDLERS: HandlersOf<
  "new" | "ls" | "ps" | "exec" | "attach" | "rename" | "start" | "stop"
> = {
  new: async (input, engine, client) => {
    const created = await createSession(input, engine);
    await undoIfGone(client, () =>
      removeSession(resolveSession(created.id, engine.catalog), engine),
    );
    return created;
  },

  ls: async (_input, engine) => ({
    sessions: engine.catalog.sessions().map((row) => describeSession(row, engine)),
  }),

  ps: async (input, engine) => {
    const session = resolveSession(input.session, engine.catalog);
    return { session: session.id, processes: listProcesses(session, engine) };
  },

  exec: async (input, engine, client) => {
    const session = await resolveArrived(input.session, engine);
    const { command, approval, approvalTimeoutMs: timeoutMs, shell, user, cwd, env, stdin } = input;
    const step = {
      session,
      command,
      how: { shell, user, cwd, env, stdin },
      timeoutMs,
      approval,
      readsInput: stdin,
    };
    return await withApproval(step, client, engine, () =>
      execInSession(resolveSession(session.id, engine.catalog), input, client, engine),
    );
  },

  attach: async (input, engine, client) => {
    const session = await resolveArrived(input.session, engine);
    const attach = () =>
      attachSession(resolveSession(session.id, engine.catalog), input, client, engine);
    const { command, approval } = input;
    if (command === undefined) return await attach();
    const step = {
      session,
      command,
      how: { shell: "live" },
      timeoutMs: undefined,
      approval,
      readsInput: false,
    };
    return await withApproval(step, client, engine, attach);
  },

  rename: (input, engine, client) =>
    withSession(input.session, engine, client, (session) =>
      renameSession(session, input.name, engine),
    ),

  start: (input, engine, client) =>
    withSession(input.session, engine, client, (session) => startSession(session, input, engine)),

  stop: (input, engine, client) =>
    withSession(input.session, engine, client, async (session) => {
      requireLive(session, engine);
      const checkpoint = input.checkpoint ? await captureBeforeStop(session, engine) : null;
      await stopSession(session, checkpoint, engine);
      const stopped = resolveSession(session.id, engine.catalog);
      return { session: describeSession(stopped, engine), checkpoint };
    }),
};

/** Returns a session when its first process has answered this daemon, or has not in time. */
async function resolveArrived(reference: string, { catalog, live }: Engine) {
  const { id } = resolveSession(reference, catalog);
  await live.arrived(id);
  return resolveSession(id, catalog);
}

/** What a stopped session can be started again from. */
async function captureBeforeStop(
  session: ReturnType<typeof resolveSession>,
  engine: Engine,
): Promise<string> {
  const options = { trigger: "before-stop", intent: "before stop", name: null } as const;
  const more = { filesOnly: false, movesHead: true };
  return (await createCheckpoint(session, { ...options, ...more }, engine)).id;
}
