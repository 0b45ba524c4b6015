import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { AutoCause, CheckpointTrigger } from "../../shared/protocol/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";

/** What a checkpoint is taken for. */
export interface CheckpointOptions {
  trigger: CheckpointTrigger;
  /** What an automatic one is taken for. */
  autoCause?: AutoCause;
  intent: string | null;
  /** The agent's last message or tool call, where it was handed over. */
  agentSaid?: string;
  name: string | null;
  filesOnly: boolean;
  /** Whether the session stands on it from now on; not for what a restore is about to leave. */
  movesHead: boolean;
}

/** Returns the row of a checkpoint that was just captured: processes and files, or files alone. */
export function checkpointRow(
  session: SessionRow,
  live: Pick<LiveInstance, "terminalId"> | undefined,
  options: CheckpointOptions,
  engine: Pick<Engine, "settings" | "agentStates" | "redact" | "logger">,
  facts: Pick<
    CheckpointRow,
    | "id"
    | "createdAt"
    | "pauseMs"
    | "totalMs"
    | "memoryBytes"
    | "pauseBytes"
    | "unchangedSince"
    | "imagesSums"
  >,
): CheckpointRow {
  const { settings } = engine;
  return {
    ...facts,
    session: session.id,
    sessionName: session.name,
    parent: session.head,
    name: options.name,
    intent: options.intent === null ? null : engine.redact(options.intent),
    agentSaid: options.agentSaid === undefined ? null : engine.redact(options.agentSaid),
    agentState: session.agentState,
    task: taskInProgress(session, engine),
    tags: null,
    trigger: options.trigger,
    autoCause: options.autoCause ?? null,
    content: live === undefined ? "files" : "full",
    stage: "captured",
    base: session.base,
    net: session.net,
    netAllow: session.netAllow,
    user: session.user,
    cwd: session.cwd,
    binds: session.binds,
    hostMounts: session.hostMounts,
    terminal: live?.terminalId ?? null,
    kernel: settings.kernel,
    criu: settings.criuVersion,
    arch: settings.arch,
    shell: session.shell,
    memoryLimitBytes: session.memoryLimitBytes,
    cpuLimit: session.cpuLimit,
    pidsLimit: session.pidsLimit,
    diskLimitBytes: session.diskLimitBytes,
    heldBy: null,
    heldWhy: null,
  };
}

/** Returns the task that the session's agent is at, as the timeline tells it. */
function taskInProgress(
  { agentState }: SessionRow,
  { agentStates, logger }: Pick<Engine, "agentStates" | "logger">,
): string | null {
  if (agentState === null) return null;
  try {
    const task = agentStates.tasksOf(agentState).find(({ status }) => status === "in-progress");
    return task === undefined ? null : `${task.id} ${task.title}`.trimEnd();
  } catch (error) {
    // A damaged state must not keep the machine from being captured.
    logger.error("read an agent's tasks", error);
    return null;
  }
}

/** Returns a duration in milliseconds as it is recorded and shown. */
export function roundMs(durationMs: number): number {
  return Math.round(durationMs * 100) / 100;
}
