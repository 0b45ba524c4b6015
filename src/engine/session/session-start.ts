import { z } from "zod";
import { withDeadline } from "../../base/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";

/** Version of a session's start file; one of another version is as none. */
const FORMAT = 1;
/** Start-up files that do more than this are told with the first checkpoint, as if there were no note. */
const PROCESSES_MAX = 256;
const MEMORY_BYTES_MAX = 32 * 1024 * 1024;
/** Of the variables, and of the functions. */
const TEXT_BYTES_MAX = 1024 * 1024;
/** A shell that stands still in the middle of it must not hold up the answer. */
const TIMEOUT_MS = 2_000;

const namedSchema = z.array(z.tuple([z.string(), z.string()]));
const processSchema = z.object({ pid: z.number(), programId: z.string() });
const startSchema = z.object({
  format: z.literal(FORMAT),
  shell: processSchema.extend({
    cwd: z.string(),
    environment: namedSchema,
    functions: namedSchema,
  }),
  processes: z.array(processSchema),
});

/** What a session had when its shell had read its start-up files, before anybody used it. */
export type SessionStart = z.infer<typeof startSchema>;

/**
 * Notes what a new session begins with, for the story of its first checkpoint, which has no parent
 * to be compared with.
 *
 * Where anybody has used the session since `unusedAt`, nothing is noted: what they have done is no
 * part of the start. Never rejects; without a note the first checkpoint tells what the start-up
 * files did.
 *
 * @param unusedAt  how many actions its init had been asked for when nobody could know of it yet.
 */
export async function noteStart(
  live: LiveInstance,
  unusedAt: number,
  engine: Engine,
): Promise<void> {
  const { sessionId, link } = live;
  try {
    const start = await withDeadline("a shell's start", TIMEOUT_MS, readStart(live, engine));
    // Nothing is awaited from here on: whatever was asked for later comes after what was read.
    const isUnused = link.actionCount === unusedAt;
    if (isUnused) engine.automatic.started(live);
    const isThere = engine.catalog.session(sessionId) !== undefined;
    if (start !== null && isUnused && isThere) engine.store.sessions.writeStart(sessionId, start);
  } catch (error) {
    engine.logger.warn("start of a session not noted", { sessionId, reason: String(error) });
  }
}

/** Returns what was noted when a session began, or `null`. */
export async function sessionStart(
  sessionId: string,
  { store }: Pick<Engine, "store">,
): Promise<SessionStart | null> {
  return startSchema.safeParse(await store.sessions.readStart(sessionId)).data ?? null;
}

/** Returns `null` for shells whose variables or functions cannot be read from their memory. */
async function readStart(
  { pid, terminalId }: LiveInstance,
  { sandbox, shells }: Engine,
): Promise<SessionStart | null> {
  const tasks = await sandbox.readLiveTasks(pid, PROCESSES_MAX);
  const ownVariable = `WAYPOINT_TERMINAL=${terminalId}`;
  const shell = tasks.find(
    ({ leadsTerminal, startEnvironment }) =>
      leadsTerminal && startEnvironment.includes(ownVariable),
  );
  if (shell === undefined || shell.program === null || shell.cwd === null) return null;
  const { environment, functions } = await shells.readShellMemory({
    programPath: shell.program.path,
    filePath: shell.programFile,
    address: shell.program.address,
    memory: await sandbox.readProcessMemory(shell.hostPid, MEMORY_BYTES_MAX),
    textBytesMax: TEXT_BYTES_MAX,
  });
  if (!(environment instanceof Map && functions instanceof Map)) return null;
  return {
    format: FORMAT,
    shell: {
      ...{ pid: shell.pid, programId: shell.programId, cwd: shell.cwd },
      ...{ environment: [...environment], functions: [...functions] },
    },
    processes: tasks.map(({ pid, programId }) => ({ pid, programId })),
  };
}
