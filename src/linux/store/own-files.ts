import { mkdirSync, rmSync } from "node:fs";
import path from "node:path";
import { runProcess } from "../../base/index.ts";

/** Where init keeps what it needs in a session: pipes of commands, its socket, startup files. */
const OWN_DIR = "run/waypoint";

/** Replaces what Waypoint keeps in one upper directory by what it has in another one. */
export async function replaceOwnFiles(fromUpper: string, toUpper: string): Promise<void> {
  const [from, to] = [path.join(fromUpper, OWN_DIR), path.join(toUpper, OWN_DIR)];
  rmSync(to, { recursive: true, force: true });
  mkdirSync(path.dirname(to), { recursive: true });
  // Pipes, sockets and the overlay's own attributes come along.
  await runProcess(["cp", "--archive", "--reflink=auto", from, to]);
}
