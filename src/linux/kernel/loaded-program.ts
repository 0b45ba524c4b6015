import { Buffer } from "node:buffer";
import { closeSync } from "node:fs";
import os from "node:os";
import type { Child, ChildDescriptor } from "../../base/index.ts";
import { libc } from "./libc.ts";
import { startChildBy, startChildByVfork } from "./start-child.ts";

const native = {
  socketpair: libc.func("int socketpair(int domain, int type, int protocol, _Out_ int *ends)"),
  setsockopt: libc.func(
    "int setsockopt(int fd, int level, int name, const uint8_t *value, unsigned int bytes)",
  ),
  send: libc.func("intptr_t send(int fd, const uint8_t *bytes, size_t count, int flags)"),
  recv: libc.func("intptr_t recv(int fd, _Out_ uint8_t *bytes, size_t count, int flags)"),
  shutdown: libc.func("int shutdown(int fd, int how)"),
  waitpid: libc.func("int waitpid(int pid, _Out_ int *status, int options)"),
};

const AF_UNIX = 1;
const SOCK_SEQPACKET_CLOEXEC = 5 | 0o2000000;
const SOL_SOCKET = 1;
const SO_RCVTIMEO = 20;
const MSG_DONTWAIT = 0x40;
const MSG_NOSIGNAL = 0x4000;
/** The program's own descriptor of the socket, behind its standard ones. */
const SOCKET_FD = 3;
/** One that says nothing for so long is ended, and what it has not begun by then it never does. */
const ANSWER_TIMEOUT_MS = 300;
/** The thread looks at the time so often; the end of another child also wakes it. */
const ANSWER_LOOK_MS = 50;
const LOAD_TIMEOUT_MS = 10_000;
const REAP_INTERVAL_MS = 100;
/** So many, none of which was killed, show that the program cannot wait. */
const FAILURES_MAX = 3;
const SHUT_RD = 0;
const WNOHANG = 1;
/** As native/criu-preload/loaded-preload.c has it. */
const STANDARD_DESCRIPTORS = 3;
const TEXTS_MAX = 1_024;
/** Others see the words of a run where those of the program were, which are as long as this. */
const ROOM_FOR_WORDS = "-".repeat(16 * 1024);

const { errno: errnos } = os.constants;

/** What a run is to have. Its directory is that of the program. */
export interface LoadedRun {
  words: readonly string[];
  env: Readonly<Record<string, string>>;
  stdio: readonly [ChildDescriptor, ChildDescriptor, ChildDescriptor];
}

/** Where nothing was made of a run, and another way may be taken. */
class NotMade extends Error {}

/**
 * A program that is loaded and stands before its `main`; runs are copies of it, which takes a tenth of the time
 * (native/criu-preload/loaded-preload.c). Each run is a child of this process, as if it had been started here.
 *
 * What is there is used; who finds it gone, or not ready yet, starts the program in the usual way meanwhile.
 */
export class LoadedProgram implements Disposable {
  readonly #argv: readonly [string, ...string[]];
  readonly #env: Readonly<Record<string, string>>;
  #waiting: { child: Child; fd: number; isReady: boolean; sinceMs: number } | null = null;
  #isOver = false;
  /** How many have ended before they were ready, one after the other. */
  #failures = 0;

  /** Loads it. `argv` is the program with what leads to it, without arguments. */
  constructor(argv: readonly [string, ...string[]], env: Readonly<Record<string, string>>) {
    this.#argv = argv;
    this.#env = env;
    this.#load();
  }

  /** Begins a run; `null` where it cannot, and nothing was begun. */
  start(run: LoadedRun): Child | null {
    const message = messageOf(run);
    if (message === null || !this.#isReady()) return null;
    let isMade = true;
    const child = startChildBy(this.#argv[0], run.stdio, (descriptors) => {
      try {
        return this.#ask(message, descriptors);
      } catch (error) {
        isMade = !(error instanceof NotMade);
        throw error;
      }
    });
    if (isMade) return child;
    // Nobody else is told that it failed.
    child.once("error", () => {});
    // For the next one; this one goes another way.
    this.#load();
    return null;
  }

  [Symbol.dispose](): void {
    this.#isOver = true;
    this.#end();
  }

  #load(): void {
    if (this.#isOver || this.#waiting !== null) return;
    const ends = [-1, -1];
    if (native.socketpair(AF_UNIX, SOCK_SEQPACKET_CLOEXEC, 0, ends) !== 0) return;
    const [fd = -1, theirs = -1] = ends;
    const timeout = Buffer.alloc(16);
    timeout.writeBigInt64LE(BigInt(ANSWER_LOOK_MS * 1000), 8);
    native.setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, timeout, timeout.length);
    const [program, ...args] = this.#argv;
    const child = startChildByVfork(program, [...args, ROOM_FOR_WORDS], {
      cwd: "/",
      env: { ...this.#env, WAYPOINT_LOADED: String(SOCKET_FD) },
      stdio: ["ignore", "ignore", "ignore", theirs],
      hasOwnGroup: true,
    });
    closeSync(theirs);
    const waiting = { child, fd, isReady: false, sinceMs: performance.now() };
    this.#waiting = waiting;
    child.once("error", () => this.#end(waiting));
    child.once("exit", (_code: number | null, signal: NodeJS.Signals | null) => {
      const wasReady = waiting !== this.#waiting || waiting.isReady;
      const hasFailed = !wasReady && signal !== "SIGKILL";
      if (hasFailed && typeof receive(fd, MSG_DONTWAIT) === "string") this.#failures += 1;
      // It would go on like this.
      this.#isOver ||= this.#failures >= FAILURES_MAX;
      this.#end(waiting);
    });
  }

  #end(which = this.#waiting): void {
    if (which === null || which !== this.#waiting) return;
    this.#waiting = null;
    which.child.kill("SIGKILL");
    closeSync(which.fd);
  }

  #isReady(): boolean {
    if (this.#waiting === null) this.#load();
    if (this.#waiting === null) return false;
    this.#waiting.isReady ||= typeof receive(this.#waiting.fd, MSG_DONTWAIT) === "object";
    const { isReady, sinceMs } = this.#waiting;
    if (isReady) this.#failures = 0;
    // Somebody may have stopped it.
    else if (performance.now() - sinceMs > LOAD_TIMEOUT_MS) this.#end();
    return isReady;
  }

  /** Returns the process id of the copy. */
  #ask(message: Buffer, descriptors: readonly number[]): number {
    const waiting = this.#waiting;
    if (waiting === null) throw new NotMade("it has ended");
    for (const [at, descriptor] of descriptors.entries()) {
      message.writeInt32LE(descriptor, at * Int32Array.BYTES_PER_ELEMENT);
    }
    const sent = Number(native.send(waiting.fd, message, message.length, MSG_NOSIGNAL));
    const answer = sent === message.length ? awaitAnswer(waiting.fd) : "none";
    if (answer !== "none" && answer.error === 0) return answer.pid;
    this.#end(waiting);
    reapGroup(waiting.child.pid);
    // It would be refused each time.
    const error = answer === "none" ? 0 : answer.error;
    this.#isOver ||= error === errnos.EPERM || error === errnos.ENOSYS;
    throw new NotMade(`it answers ${error}`);
  }
}

/** What a copy says of itself. */
interface Answer {
  pid: number;
  error: number;
}

/** Waits for it, in bounds. Where there is none nobody hears a copy any more, and one that is not heard ends. */
function awaitAnswer(fd: number): Answer | "none" {
  const endsAtMs = performance.now() + ANSWER_TIMEOUT_MS;
  let answer = receive(fd, 0);
  while (answer === "later" && performance.now() < endsAtMs) answer = receive(fd, 0);
  if (answer === "later") {
    native.shutdown(fd, SHUT_RD);
    // It may have been said in the last moment.
    answer = receive(fd, MSG_DONTWAIT);
  }
  return answer === "later" ? "none" : answer;
}

function receive(fd: number, flags: number): Answer | "later" | "none" {
  const bytes = Buffer.alloc(2 * Int32Array.BYTES_PER_ELEMENT);
  const count = Number(native.recv(fd, bytes, bytes.length, flags));
  if (count === bytes.length) {
    return { pid: bytes.readInt32LE(0), error: bytes.readInt32LE(Int32Array.BYTES_PER_ELEMENT) };
  }
  return count < 0 ? "later" : "none";
}

/** Collects copies that have failed, which are in the group of the one that waited. */
function reapGroup(groupId: number | undefined): void {
  if (groupId === undefined) return;
  const look = () => {
    let pid = 0;
    do pid = native.waitpid(-groupId, [0], WNOHANG);
    while (pid > 0);
    if (pid === 0) setTimeout(look, REAP_INTERVAL_MS).unref();
  };
  look();
}

/** Returns `null` for what does not fit, or that C would read as another text. */
function messageOf({ words, env }: LoadedRun): Buffer | null {
  const variables = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  const texts = [...words, ...variables];
  if (words.length > TEXTS_MAX || variables.length > TEXTS_MAX) return null;
  if (texts.some((text) => text.includes("\0"))) return null;
  const shownBytes = Buffer.byteLength(words.join("\0"));
  const whole = Buffer.from(texts.map((text) => `${text}\0`).join(""));
  if (shownBytes > ROOM_FOR_WORDS.length || whole.length > 4 * ROOM_FOR_WORDS.length) return null;
  const head = Buffer.alloc((STANDARD_DESCRIPTORS + 2) * Int32Array.BYTES_PER_ELEMENT);
  head.writeUInt32LE(words.length, STANDARD_DESCRIPTORS * Int32Array.BYTES_PER_ELEMENT);
  head.writeUInt32LE(variables.length, (STANDARD_DESCRIPTORS + 1) * Int32Array.BYTES_PER_ELEMENT);
  return Buffer.concat([head, whole]);
}
