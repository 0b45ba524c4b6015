import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import { type Contender, timed } from "./contender.ts";
import type { World } from "./world.ts";

const run = promisify(execFile);
const COMMAND_PATH = path.resolve(import.meta.dirname, "../bin/waypoint");

/** What an agent waits for that starts a process for every step. */
export function commandContenders(world: World): Contender[] {
  const call = (...args: string[]) =>
    timed(() => run(COMMAND_PATH, ["--dir", world.stateDir, ...args]));
  return [
    { name: "cli ls", run: async () => ({ "cli-ls": (await call("ls")).tookMs }) },
    {
      name: "cli exec",
      run: async () => ({ "cli-exec": (await call("exec", "plain", "--", "true")).tookMs }),
    },
    {
      name: "node",
      run: async () => ({
        "cli-node": (await timed(() => run(process.execPath, ["-e", "0"]))).tookMs,
      }),
    },
  ];
}
