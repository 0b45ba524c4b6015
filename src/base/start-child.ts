import { spawn } from "node:child_process";
import type { EventEmitter } from "node:events";
import type { Readable, Writable } from "node:stream";

/** What a process has as one of its first descriptors: nothing, a pipe, ours, or one that is open. */
export type ChildDescriptor = "ignore" | "pipe" | "inherit" | number;

/** How to start a process. */
export interface ChildOptions {
  /** Its descriptors 0, 1, 2, …; those with a pipe can be written to and read from. */
  stdio: readonly ChildDescriptor[];
  /** @defaultValue the environment of this process */
  env?: NodeJS.ProcessEnv;
  cwd?: string;
  /**
   * Puts it into a process group of its own. The kernel lets it go on, with SIGHUP, where it was stopped and this
   * process ends: `orphaned process group` in setpgid(2). Only where Node's way of starting is not used.
   *
   * @defaultValue false
   */
  hasOwnGroup?: boolean;
}

/**
 * A process that was started, as Node's own are.
 *
 * Tells `error` where it could not be started, `exit` with its code and signal when it has ended, and
 * `close` when its pipes are at their end as well.
 */
export interface Child extends EventEmitter {
  readonly pid?: number | undefined;
  readonly spawnfile: string;
  readonly stdin: Writable | null;
  readonly stdout: Readable | null;
  readonly stderr: Readable | null;
  /** Sends a signal; `false` where it has ended. */
  kill(signal?: NodeJS.Signals): boolean;
  /** Lets this process end before it. */
  unref(): void;
}

/** A way of starting processes; a failure is told by the event `error`. */
export type ChildStarter = (
  program: string,
  args: readonly string[],
  options: ChildOptions,
) => Child;

let starter: ChildStarter = (program, args, { stdio, env, cwd }) =>
  spawn(program, args, { stdio: [...stdio], env, cwd });

/** Has all processes started in another way than Node's; the daemon has one that costs it less. */
export function startChildrenWith(other: ChildStarter): void {
  starter = other;
}

/** Starts a process. */
export function startChild(
  [program, ...args]: readonly [string, ...string[]],
  options: ChildOptions,
): Child {
  return starter(program, args, options);
}
