import { execFile } from "node:child_process";
import path from "node:path";
import { promisify } from "node:util";
import type { Session, Waypoint } from "../../src/index.ts";
import { type Contender, timed } from "../measuring/contender.ts";
import { answer } from "./waypoint.ts";

const run = promisify(execFile);
const COMMAND_PATH = path.resolve(import.meta.dirname, "../../bin/waypoint");

/** Runs one command and resolves when it has succeeded. */
export async function callOnCommandLine(stateDir: string, ...words: string[]): Promise<void> {
  await run(COMMAND_PATH, ["--dir", stateDir, ...words]);
}

/** What an agent waits for that starts a process for every step. */
export function commandLine(stateDir: string, session: Session): Contender[] {
  const call = async (...words: string[]) =>
    (await timed(() => callOnCommandLine(stateDir, ...words))).tookMs;
  return [
    { name: "command line", run: async () => ({ ls: await call("ls") }) },
    {
      name: "command line",
      run: async () => ({ "exec true": await call("exec", session.name, "--", "true") }),
    },
    {
      name: "command line",
      run: async () => ({ checkpoint: await call("checkpoint", session.name) }),
    },
    {
      name: "node -e 0",
      run: async () => ({
        start: (await timed(() => run(process.execPath, ["-e", "0"]))).tookMs,
      }),
    },
  ];
}

/** The same without a process. */
export function sdk(waypoint: Waypoint, session: Session): Contender[] {
  return [
    { name: "sdk", run: async () => ({ ls: (await timed(() => waypoint.sessions())).tookMs }) },
    {
      name: "sdk",
      run: async () => ({ "exec true": (await timed(() => answer(session))).tookMs }),
    },
  ];
}
