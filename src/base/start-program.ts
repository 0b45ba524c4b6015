import { spawn } from "node:child_process";
import type { Readable, Writable } from "node:stream";
import { deferred } from "./deferred.ts";

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
export function startProgram([program, ...args]: readonly [string, ...string[]]): RunningProgram {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const { promise: ended, resolve } = deferred<{ how: string; failure?: Error }>();
  child.once("error", (failure) => resolve({ how: String(failure), failure }));
  child.once("close", (code, signal) => resolve({ how: signal ?? `exit code ${code}` }));
  const { stdin, stdout } = child;
  return { stdin, stdout, ended, kill: () => void child.kill("SIGKILL") };
}
