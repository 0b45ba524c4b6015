/** Who has to act on a failure. */
export type ErrorKind = "usage" | "state" | "host" | "tool" | "data" | "cancelled" | "internal";

/** What is derived from an error code. */
export interface ErrorRow {
  kind: ErrorKind;
  exitCode: number;
  httpStatus: number;
  /** Whether the same request may succeed later without anyone changing anything. */
  retryable: boolean;
  /** What happened, as one sentence for docs/errors.md. */
  meaning: string;
}

/** Returns what makes the rows of one kind from their meanings. */
function row(kind: ErrorKind, exitCode: number, httpStatus: number, retryable = false) {
  return (meaning: string): ErrorRow => ({ kind, exitCode, httpStatus, retryable, meaning });
}

const usage = row("usage", 2, 400);
const notFound = row("state", 10, 404);
const ambiguous = row("state", 10, 409);
const notNow = (httpStatus: number) => row("state", 11, httpStatus, true);
const refused = row("state", 12, 409);
const host = (httpStatus: number) => row("host", 20, httpStatus);
const hostForNow = (httpStatus: number) => row("host", 20, httpStatus, true);
const tool = row("tool", 21, 500);
const notRestored = row("tool", 22, 500);
const damaged = row("data", 23, 500);
const cancelled = row("cancelled", 130, 499, true);
const internal = row("internal", 70, 500);

/**
 * Every error code of Waypoint, one row each.
 *
 * A code is public: it is never reused and never changes its meaning. The exit code and the HTTP
 * status follow from the kind of failure, that is from who has to act. docs/errors.md prints the
 * meanings.
 */
export const ERROR_REGISTRY = {
  USAGE_INVALID: usage("A command line, an option or an argument is not understood."),
  CONFIG_INVALID: usage("A config file is no TOML, or has a key or a value that there is not."),
  NAME_INVALID: usage("A name has characters or a length that names cannot have."),
  BASE_INVALID: usage(
    "The directory given as base is not a root filesystem that a session can use.",
  ),
  BIND_INVALID: usage("A directory of the host cannot be bound into a session as asked."),

  SESSION_NOT_FOUND: notFound("No session has that name or id."),
  CHECKPOINT_NOT_FOUND: notFound("No checkpoint has that name, id or place in the timeline."),
  REFERENCE_AMBIGUOUS: ambiguous("The prefix given fits several sessions or checkpoints."),
  BASE_NOT_FOUND: notFound("The store keeps no base of that name."),
  BASE_IN_USE: refused("Sessions or checkpoints stand on the base."),
  NAME_IN_USE: refused("Another session, checkpoint or base already has that name."),
  PORT_IN_USE: refused(
    "The port of this machine is taken, or the session's port is forwarded already.",
  ),
  FORWARD_REFUSED: refused(
    "The session's ports cannot be forwarded, because they are the host's own.",
  ),
  FORWARD_NOT_FOUND: notFound("That port of the session is not forwarded."),
  SESSION_WRONG_STATE: refused("The session's state does not allow the operation."),
  SESSION_ENDED: refused("The session's processes ended before or during the operation."),
  CHECKPOINT_OF_OTHER_SESSION: refused(
    "A session can be restored only to checkpoints of its own lineage.",
  ),
  NOTHING_TO_UNDO: refused("The session has no such operation, or none that could be taken back."),
  PART_NOT_CAPTURED: refused("The checkpoint does not hold the part that was to be put back."),
  FORK_REFUSED: refused("The checkpoint cannot be forked as asked."),
  BIND_SOURCE_MISSING: refused(
    "A directory of the host that the checkpoint's session had bound is gone.",
  ),
  CHECKPOINT_NOT_ANCESTOR: refused(
    "One checkpoint does not descend from the other, so there is no way between them.",
  ),
  BISECT_GOOD_FAILS: refused(
    "The command of a bisect fails at the checkpoint that was called good.",
  ),
  BISECT_BAD_PASSES: refused(
    "The command of a bisect passes at the checkpoint that was called bad.",
  ),
  BISECT_STOPPED: refused("The command of a bisect ended in a way that says neither good nor bad."),
  STATE_KEY_NOT_FOUND: notFound("The agent's state has no such key at that moment."),
  STATE_CONFLICT: refused("Somebody else has changed the agent's state meanwhile."),
  STATE_TOO_LARGE: usage("A value of the agent's state is larger than what is kept."),
  TASK_NOT_FOUND: notFound("The session has no task of that id."),
  TASK_NOT_READY: refused("The task is done, or waits for others."),
  THREAD_EXISTS: refused("The thread of a graph that a copy was to make has checkpoints already."),
  APPROVAL_NOT_FOUND: notFound("No step has that id, or none waits for approval."),
  APPROVAL_SETTLED: refused("The step does not wait for approval any more."),
  APPROVAL_DENIED: refused("A person, or what happened meanwhile, denied the step; nothing ran."),
  APPROVAL_EXPIRED: refused("Nobody approved the step in time; nothing ran."),
  APPROVAL_REFUSED: refused(
    "A verification, which asks nobody, has a step that a person has to approve; nothing ran.",
  ),
  EFFECT_NOT_FOUND: notFound("No effect of that key was begun, or not that time."),
  EFFECT_CONFLICT: refused("The effect's key was used with another input before."),
  EFFECT_NOT_COMPENSATED: refused("An effect could not be taken back; nothing was restored."),
  EFFECT_RUNNING: notNow(409)("Another process is doing the effect."),
  EFFECT_UNKNOWN: refused("The effect was begun, and nobody knows what became of it."),
  GRAPH_NOT_SYNC: usage(
    "A graph that is linked with a session runs on before its machine is captured.",
  ),
  GRAPH_CONFLICT: refused("Another run, or another thread, of a graph has the session."),
  GRAPH_MACHINE_GONE: refused(
    "The checkpoint of the machine that a step of a graph has was removed, or is another session's.",
  ),
  GRAPH_MACHINE_MOVED: refused(
    "The session was restored or started again while a graph ran on it.",
  ),
  FILE_NOT_FOUND: notFound(
    "At that moment there is nothing at the path, or a link on the way leads to nothing.",
  ),
  FILE_REFUSED: refused(
    "What is at the path cannot be read or replaced as asked: it is of another kind.",
  ),
  FILE_FAILED: tool("The kernel refused to read or write a file; the detail has its reason."),
  CHECKPOINT_IN_USE: refused(
    "The checkpoint is browsed, or something needs it, and it cannot be removed meanwhile.",
  ),
  TERMINAL_IN_USE: notNow(423)(
    "Somebody is typing at an attached terminal of the session that would be put back; nothing was changed.",
  ),
  SESSION_UNRESPONSIVE: refused(
    "The session's first process does not answer: it is stopped, traced or frozen, or hangs; the session was left as it is.",
  ),
  APPLY_CONFLICT: refused(
    "What would be replaced is not what the session started from; nothing was written. The detail lists the paths.",
  ),
  APPLY_UNFINISHED: refused(
    "An earlier apply or merge was interrupted; it has to be completed or put back before the next one.",
  ),
  APPLY_NOT_FOUND: notFound("There is no apply to be taken back, completed or put back."),
  LINEAGE_UNRELATED: refused(
    "The session and the checkpoint descend from no common checkpoint, so nothing tells who changed what.",
  ),

  HOST_UNSUPPORTED: host(501)(
    "The machine lacks something that Waypoint needs and setup cannot bring.",
  ),
  PRIVILEGE_MISSING: host(403)(
    "The operation needs root or a capability that the process does not have.",
  ),
  SETUP_INCOMPLETE: host(501)("Something that `waypoint setup` brings is not there."),
  SETUP_FAILED: hostForNow(500)("Setup could not fetch, build or install something."),
  PROCESSES_FULL: hostForNow(503)(
    "No further process can be started: the machine's table or the daemon's limit is full.",
  ),
  MEMORY_SHORT: hostForNow(503)("The machine has too little memory left for what was asked."),
  STORE_FULL: hostForNow(507)("The store or the memory budget for images has no room left."),
  STATE_DIR_BUSY: host(409)("Another daemon uses the state directory."),
  DAEMON_UNREACHABLE: hostForNow(503)(
    "The daemon does not answer, could not be started, or went away.",
  ),
  STORE_UNREACHABLE: hostForNow(503)(
    "The database that keeps a graph's checkpoints does not answer, or the connection was lost.",
  ),
  STORE_KEY_MISSING: damaged("What is kept was encrypted with a key that was not given."),
  DAEMON_VERSION_MISMATCH: host(409)("Client and daemon are of different versions of Waypoint."),

  CRIU_DUMP_FAILED: tool("CRIU could not capture the processes; the session runs on as before."),
  CRIU_RESTORE_FAILED: notRestored(
    "CRIU could not bring the processes back; the session is as before.",
  ),
  SANDBOX_FAILED: tool("Namespaces, mounts, network or init of a session could not be made."),
  STORE_FAILED: tool(
    "The store could not make, read or delete a subvolume, snapshot, image or record.",
  ),
  TOOL_FAILED: tool("A program that Waypoint started failed; the detail has what it said."),

  CHECKPOINT_INCOMPLETE: damaged(
    "Files of the checkpoint are missing or damaged; it cannot be used.",
  ),
  FORMAT_TOO_NEW: damaged(
    "A newer version of Waypoint wrote this; the present one must not touch it.",
  ),

  DEADLINE_EXCEEDED: notNow(504)("Something did not happen in the time allowed for it."),
  CANCELLED: cancelled(
    "The caller interrupted the operation, and the message tells what became of it: undone; for a copy, whole where it was done; or being undone or completed where the daemon has not answered yet.",
  ),
  INTERNAL: internal("A defect of Waypoint; the daemon's log has the details."),
} as const satisfies Record<string, ErrorRow>;

/** A code of the registry. */
export type ErrorCode = keyof typeof ERROR_REGISTRY;

/** Exit code for an error code that this client does not know (a newer daemon). */
export const EXIT_CODE_UNKNOWN_ERROR = 1;

/** Exit code with which `exec` and `run` report a failure of their own, not of the command. */
export const EXIT_CODE_OWN_FAILURE = 125;
