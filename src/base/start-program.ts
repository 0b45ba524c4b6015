import type { Readable, Writable } from "node:stream";
import { deferred } from "./deferred.ts";
import { startChild } from "./start-child.ts";

/** A program that runs beside its starter, which writes to it and reads from it. */
export interface RunningProgram {
  stdin: Writable;
  stdout: Readable;
  /** How it ended, in words, with the reason where it could not be started. */
  ended: Promise<{ how: string; failure?: Error }>;
  /** Ends it at once. */
  kill: () => void;
}

/** Starts a program; what it says of errors goes where its starter's goes. */
export function startProgram(argv: readonly [string, ...string[]]): RunningProgram {
  const child = startChild(argv, { stdio: ["pipe", "pipe", "inherit"] });
  const { promise: ended, resolve } = deferred<{ how: string; failure?: Error }>();
  child.once("error", (failure: Error) => resolve({ how: String(failure), failure }));
  child.once("close", (code: number | null, signal: NodeJS.Signals | null) =>
    resolve({ how: signal ?? `exit code ${code}` }),
  );
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new TypeError("a program was started without pipes");
  return { stdin, stdout, ended, kill: () => void child.kill("SIGKILL") };
}
