import type { Moment, ReadingEngine } from "../moment/index.ts";
import { readPicture } from "./processes/process-picture.ts";
import { sessionShell } from "./processes/session-shell.ts";

/** Returns the directory that a session's shell was in, or `null` where nobody knows. */
export async function shellDirectory(
  moment: Moment,
  engine: ReadingEngine,
): Promise<string | null> {
  try {
    const picture = await readPicture(moment, engine);
    const shell = picture === null ? null : sessionShell(picture);
    return shell?.cwd ?? moment.origin.cwd;
  } catch {
    // Of files alone only the directory is known in which a shell would be started.
    return moment.origin.cwd;
  }
}
