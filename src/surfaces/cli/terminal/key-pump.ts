import type { OperationStream } from "../../client/index.ts";
import { type DetachKeys, parseDetachKeys } from "./detach-keys.ts";

const CTRL_C = 3;

/** Typed keys that are kept while there is nobody to send them to; what is more is dropped. */
const HELD_BYTES_MAX = 64 * 1024;

/** Exit code of a user who gave up waiting. */
const EXIT_CODE_LEFT = 130;

/** A question that two chords answer, while it stands on the screen. */
export interface AnswerChords {
  /** Of what is asked. */
  id: string;
  /** As a user writes keys. */
  approve: string;
  deny: string;
  answer: (answer: "approve" | "deny") => void;
}

/** What is typed: kept while nobody takes it, then sent. Disposing of it stops reading. */
export class KeyPump implements Disposable {
  readonly #detachKeys: DetachKeys;
  #stream: OperationStream<unknown> | null = null;
  #onDetach: () => void = leaveProcess;
  #held = Buffer.alloc(0);
  #taker: ((bytes: Uint8Array) => void) | null = null;
  #asked: AnswerChords | null = null;
  /** A chord was begun under another question, or none. */
  #isStale = false;
  readonly #onData = (bytes: Uint8Array) => this.#take(bytes);

  constructor(detachKeys: DetachKeys) {
    this.#detachKeys = detachKeys;
    process.stdin.on("data", this.#onData).resume();
  }

  /** Sends what was kept and everything from now on to `stream`. */
  sendTo(stream: OperationStream<unknown>, onDetach: () => void): void {
    this.#stream = stream;
    this.#onDetach = onDetach;
    if (this.#held.length > 0) this.#send(this.#held);
    this.#held = Buffer.alloc(0);
  }

  /** Keeps what is typed from now on; the chord and Ctrl-C end this process meanwhile. */
  hold(): void {
    this.#stream = null;
    this.#onDetach = leaveProcess;
    process.stdin.resume();
  }

  /** Hands all keys over to somebody else until that is disposed of: nothing is kept or sent. */
  listen(take: (bytes: Uint8Array) => void): Disposable {
    this.#taker = take;
    process.stdin.resume();
    const end = () => {
      this.#taker = null;
    };
    return { [Symbol.dispose]: end };
  }

  /** Says which question the chords answer from now on; a chord that has begun answers none. */
  answerWith(asked: AnswerChords | null): void {
    if (asked?.id !== this.#asked?.id) this.#isStale = this.#detachKeys.isBegun;
    this.#asked = asked;
  }

  [Symbol.dispose](): void {
    process.stdin.off("data", this.#onData).pause();
  }

  #take(bytes: Uint8Array): void {
    if (this.#taker === null) this.#read(bytes);
    else this.#taker(bytes);
  }

  #read(bytes: Uint8Array): void {
    const asked = this.#asked;
    const approve = { keys: asked === null ? [] : parseDetachKeys(asked.approve) };
    const deny = { keys: asked === null ? [] : parseDetachKeys(asked.deny) };
    const chords = asked === null ? [] : [approve, deny];
    const { forward, isDetached, typed } = this.#detachKeys.push(bytes, chords);
    // One key press, one answer: what was pasted may have more.
    const [answer] = typed;
    if (answer !== undefined && !this.#isStale) {
      asked?.answer(answer === approve ? "approve" : "deny");
    }
    if (!this.#detachKeys.isBegun) this.#isStale = false;
    if (this.#stream === null) this.#keep(forward);
    else if (forward.length > 0) this.#send(forward);
    if (isDetached) this.#onDetach();
  }

  #keep(bytes: Uint8Array): void {
    if (bytes.includes(CTRL_C)) leaveProcess();
    const roomBytes = HELD_BYTES_MAX - this.#held.length;
    if (bytes.length <= roomBytes) this.#held = Buffer.concat([this.#held, bytes]);
  }

  /** Reading pauses while the stream takes no more, so that a large paste needs no memory. */
  #send(bytes: Uint8Array): void {
    process.stdin.pause();
    const goOn = () => void process.stdin.resume();
    // A lost connection is reported by the stream's reader.
    this.#stream?.write(bytes).then(goOn, goOn);
  }
}

function leaveProcess(): void {
  process.exit(EXIT_CODE_LEFT);
}
