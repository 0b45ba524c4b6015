import { EventEmitter } from "node:events";
import { accessSync, closeSync, constants, openSync } from "node:fs";
import { Socket } from "node:net";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import type { Child, ChildDescriptor, ChildOptions } from "../../base/index.ts";
import { koffi, libc } from "./libc.ts";

/**
 * Starting programs by posix_spawn(3), which lends the child this process's memory until it runs its
 * program. Node's own way, fork(2), copies the page tables first: 1 to 15 ms, in which a daemon does
 * nothing else, and as much again for the pages that it touches afterwards.
 */

const native = {
  spawn: libc.func(
    "int posix_spawn(_Out_ int *pid, const char *path, const uint8_t *actions, const uint8_t *attributes, const char **argv, const char **environment)",
  ),
  initActions: libc.func("int posix_spawn_file_actions_init(_Inout_ uint8_t *actions)"),
  addDup2: libc.func(
    "int posix_spawn_file_actions_adddup2(_Inout_ uint8_t *actions, int fd, int target)",
  ),
  addChdir: libc.func(
    "int posix_spawn_file_actions_addchdir_np(_Inout_ uint8_t *actions, const char *path)",
  ),
  destroyActions: libc.func("int posix_spawn_file_actions_destroy(_Inout_ uint8_t *actions)"),
  initAttributes: libc.func("int posix_spawnattr_init(_Inout_ uint8_t *attributes)"),
  setFlags: libc.func("int posix_spawnattr_setflags(_Inout_ uint8_t *attributes, short flags)"),
  setDefaults: libc.func(
    "int posix_spawnattr_setsigdefault(_Inout_ uint8_t *attributes, const uint8_t *signals)",
  ),
  setMask: libc.func(
    "int posix_spawnattr_setsigmask(_Inout_ uint8_t *attributes, const uint8_t *signals)",
  ),
  waitpid: libc.func("int waitpid(int pid, _Out_ int *status, int options)"),
  pipe2: libc.func("int pipe2(_Out_ int *ends, int flags)"),
  fcntl: libc.func("int fcntl(int fd, int command, int argument)"),
};

/** Room for glibc's structures, which it does not let grow: they are 80 and 336 bytes. */
const ACTIONS_BYTES = 512;
const ATTRIBUTES_BYTES = 1024;
const SIGNALS_BYTES = 128;
const POSIX_SPAWN_SETPGROUP = 2;
const POSIX_SPAWN_SETSIGDEF = 4;
const POSIX_SPAWN_SETSIGMASK = 8;
const O_CLOEXEC = 0o2000000;
const F_DUPFD_CLOEXEC = 1030;
const WNOHANG = 1;
const PATH_DEFAULT = "/usr/sbin:/usr/bin:/sbin:/bin";

/** Those that run, or whose end was not noticed yet. */
const running = new Map<number, SpawnedChild>();
let isListening = false;
/** Of programs in this process's group, and of those with a group of their own. */
const attributes = new Map<boolean, Uint8Array>();

/**
 * Starts a program as Node's `spawn` does, without a fork of this process.
 *
 * The child gets the descriptors that it is given and no other, every signal's default, and an
 * empty mask. What cannot be started is told by the event `error`.
 */
export function startChildByVfork(
  program: string,
  args: readonly string[],
  options: ChildOptions,
): Child {
  return startChildBy(program, options.stdio, (descriptors, lent) =>
    spawn([program, ...args], descriptors, options, lent),
  );
}

/** Makes a child that gets `descriptors` as its first ones, and returns its process id; adds to `lent` what it opens. */
export type Launch = (descriptors: readonly number[], lent: number[]) => number;

/** Starts a program in a way of its own, and follows it as any other. */
export function startChildBy(
  program: string,
  stdio: readonly ChildDescriptor[],
  launch: Launch,
): Child {
  const child = new SpawnedChild(program);
  child.start(stdio, launch);
  return child;
}

class SpawnedChild extends EventEmitter implements Child {
  readonly spawnfile: string;
  pid: number | undefined;
  stdin: Socket | null = null;
  stdout: Socket | null = null;
  stderr: Socket | null = null;
  #end: { code: number | null; signal: NodeJS.Signals | null } | null = null;
  #openPipes = 0;

  constructor(program: string) {
    super();
    this.spawnfile = program;
  }

  start(stdio: readonly ChildDescriptor[], launch: Launch): void {
    // What the child gets of ours, to be closed here when it has it.
    const lent: number[] = [];
    // Before it starts, for it may end at once.
    if (!isListening) process.on("SIGCHLD", noticeEnds);
    isListening = true;
    try {
      const descriptors = stdio.map((each, at) => this.#descriptor(each, at, lent));
      this.pid = launch(descriptors, lent);
      running.set(this.pid, this);
    } catch (error) {
      this.stdin?.destroy();
      process.nextTick(() => {
        this.emit("error", error);
        this.ended(null, null);
      });
    } finally {
      for (const fd of lent) closeSync(fd);
    }
  }

  kill(signal: NodeJS.Signals = "SIGTERM"): boolean {
    // Once it was waited for, its number may be another's.
    if (this.pid === undefined || this.#end !== null) return false;
    try {
      return process.kill(this.pid, signal);
    } catch {
      return false;
    }
  }

  /** Nothing of it keeps this process alive but its pipes. */
  unref(): void {}

  /** Takes note of its end; one that was never started has neither code nor signal. */
  ended(code: number | null, signal: NodeJS.Signals | null): void {
    this.#end = { code, signal };
    this.stdin?.destroy();
    if (this.pid !== undefined) this.emit("exit", code, signal);
    // Nobody may ever read what it said, and the end of it would not come then.
    for (const stream of [this.stdout, this.stderr]) {
      if (stream?.readableFlowing === null && stream.listenerCount("readable") === 0) {
        stream.resume();
      }
    }
    this.#closeIfOver();
  }

  #descriptor(wanted: ChildDescriptor, at: number, lent: number[]): number {
    if (typeof wanted === "number") return wanted;
    if (wanted === "inherit") return at;
    if (wanted === "ignore") {
      lent.push(openSync("/dev/null", "r+"));
      return lent.at(-1) as number;
    }
    const ends = [-1, -1];
    if (native.pipe2(ends, O_CLOEXEC) !== 0) throw spawnError("pipe2", koffi.errno());
    const [readFd = -1, writeFd = -1] = ends;
    const [ours, theirs] = at === 0 ? [writeFd, readFd] : [readFd, writeFd];
    lent.push(theirs);
    const socket = new Socket({ fd: ours, readable: at !== 0, writable: at === 0 });
    this.#openPipes += 1;
    socket.once("close", () => {
      this.#openPipes -= 1;
      this.#closeIfOver();
    });
    if (at === 0) this.stdin = socket;
    else if (at === 1) this.stdout = socket;
    else this.stderr = socket;
    return theirs;
  }

  #closeIfOver(): void {
    if (this.#end === null || this.#openPipes > 0) return;
    this.emit("close", this.#end.code, this.#end.signal);
  }
}

function spawn(
  argv: readonly [string, ...string[]],
  descriptors: readonly number[],
  { env = process.env, cwd, hasOwnGroup = false }: ChildOptions,
  lent: number[],
): number {
  const environment = Object.entries(env).flatMap(([name, value]) =>
    value === undefined ? [] : [`${name}=${value}`],
  );
  // Whoever reads such a text as C does would see another one.
  if ([...argv, ...environment, cwd ?? ""].some((text) => text.includes("\0"))) {
    throw spawnError(`spawn ${argv[0]}`, os.constants.errno.EINVAL);
  }
  const actions = new Uint8Array(ACTIONS_BYTES);
  native.initActions(actions);
  try {
    // Relative names are looked up there, as after a fork.
    if (cwd !== undefined) native.addChdir(actions, cwd);
    // One whose number is a target is copied out of the way of those that come before it.
    const sources = descriptors.map((fd, at) =>
      fd < descriptors.length && fd !== at ? moved(fd, lent) : fd,
    );
    // Also where both are the same: that takes away what closes it on exec.
    for (const [at, fd] of sources.entries()) native.addDup2(actions, fd, at);
    const pid = [0];
    const program = findProgram(argv[0], env["PATH"]);
    const errno = native.spawn(
      ...[pid, program, actions, plainAttributes(hasOwnGroup)],
      ...[
        [...argv, null],
        [...environment, null],
      ],
    );
    if (errno !== 0) throw spawnError(`spawn ${argv[0]}`, errno);
    return pid[0] as number;
  } finally {
    native.destroyActions(actions);
  }
}

function moved(fd: number, lent: number[]): number {
  const ABOVE_ALL = 64;
  const copy = native.fcntl(fd, F_DUPFD_CLOEXEC, ABOVE_ALL);
  if (copy === -1) throw spawnError("fcntl", koffi.errno());
  lent.push(copy);
  return copy;
}

/** Node ignores SIGPIPE, for one; a program that it starts must not. */
function plainAttributes(hasOwnGroup: boolean): Uint8Array {
  const known = attributes.get(hasOwnGroup);
  if (known !== undefined) return known;
  const made = new Uint8Array(ATTRIBUTES_BYTES);
  native.initAttributes(made);
  native.setDefaults(made, new Uint8Array(SIGNALS_BYTES).fill(0xff));
  native.setMask(made, new Uint8Array(SIGNALS_BYTES));
  const group = hasOwnGroup ? POSIX_SPAWN_SETPGROUP : 0;
  native.setFlags(made, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group);
  attributes.set(hasOwnGroup, made);
  return made;
}

/** Looks a program up as execvp(3) does; one that is nowhere is left to the kernel to refuse. */
function findProgram(name: string, searchPath = PATH_DEFAULT): string {
  if (name.includes("/")) return name;
  for (const directory of searchPath.split(":")) {
    const file = path.join(directory || ".", name);
    try {
      accessSync(file, constants.X_OK);
      return file;
    } catch {
      // The next one may have it.
    }
  }
  return path.join("/nonexistent", name);
}

function spawnError(call: string, errno: number): Error {
  const { errno: numbers } = os.constants;
  const code = Object.entries(numbers).find(([, number]) => number === errno)?.[0] ?? `E${errno}`;
  return Object.assign(new Error(`${call} ${code}`), { errno: -errno, code, syscall: call });
}

/** One signal may stand for several ends. Children that Node has started are its own matter. */
function noticeEnds(): void {
  for (const [pid, child] of running) {
    const status = [0];
    const waited = native.waitpid(pid, status, WNOHANG);
    if (waited === 0) continue;
    running.delete(pid);
    const how = status[0] as number;
    const signalNumber = how & 0x7f;
    const signal = signalNumber === 0 ? null : nameOfSignal(signalNumber);
    child.ended(waited === pid && signal === null ? (how >> 8) & 0xff : null, signal);
  }
}

function nameOfSignal(number: number): NodeJS.Signals {
  const found = Object.entries(os.constants.signals).find(([, each]) => each === number);
  return (found?.[0] ?? "SIGKILL") as NodeJS.Signals;
}
