import type { CheckpointRow } from "../../../portable/model/index.ts";
import type { ReadingEngine } from "../../moment/index.ts";
import { openCheckpoint } from "../../moment/index.ts";
import { readShell } from "./read-shell.ts";

/** What a command needs to run as if it were typed into the shell of a moment. */
export interface ShellContext {
  /** `null` where nobody knows. */
  cwd: string | null;
  /** Exported variables; those that the shell was started with where its memory cannot be read. */
  environment: Record<string, string>;
}

/** Returns the directory and the exported variables of the session's shell in a checkpoint. */
export async function readShellContext(
  checkpoint: CheckpointRow,
  engine: ReadingEngine,
): Promise<ShellContext> {
  await using moment = await openCheckpoint(checkpoint, engine);
  try {
    const { view, fresh } = await readShell(moment, engine);
    const started = fresh({ from: moment, to: moment }).view.environment;
    const known = [view.environment, started].find((each) => each instanceof Map);
    return { cwd: view.cwd, environment: Object.fromEntries(known ?? []) };
  } catch {
    // Without a shell there is the directory in which one would be started.
    return { cwd: checkpoint.cwd, environment: {} };
  }
}
