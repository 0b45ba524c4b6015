import type { SessionRow } from "../../portable/catalog/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";

/** Within this time after a key somebody is still at work. */
const TYPING_MS = 10_000;

/**
 * What a terminal sends by itself: answers about its cursor, its kind and its colours, and that it
 * has got or lost the focus.
 */
const REPORTS =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: terminals talk in them.
  /\u001b\[[?>=]?[\d;]*[Rcnty]|\u001b\[[IO]|\u001b[\]P][^\u0007\u001b]*(\u0007|\u001b\\)/g;

/** Tells whether there is a key among the bytes that came from a terminal. */
export function hasKeys(bytes: Uint8Array): boolean {
  return Buffer.from(bytes).toString("latin1").replaceAll(REPORTS, "") !== "";
}

/** When somebody last typed at an attached terminal of each session. */
export class Typing {
  readonly #lastKeyAtMs = new Map<string, number>();

  note(sessionId: string, bytes: Uint8Array): void {
    if (hasKeys(bytes)) this.#lastKeyAtMs.set(sessionId, Date.now());
  }

  /** Returns the instant, in milliseconds since the epoch, or `null` where nobody has. */
  lastKeyAtMs(sessionId: string): number | null {
    return this.#lastKeyAtMs.get(sessionId) ?? null;
  }

  forget(sessionId: string): void {
    this.#lastKeyAtMs.delete(sessionId);
  }
}

/** Somebody at work at an attached terminal. */
export interface Typist {
  /** Terminals that are attached. */
  attached: number;
  lastKeyAt: string;
  /** The same for people. */
  sentence: string;
}

/**
 * Returns who types in a session, or `null`.
 *
 * A terminal that is only attached is nobody, nor is one whose user has left.
 */
export function findActiveTypist(session: SessionRow, { live, typing }: Engine): Typist | null {
  const attached = live.attachedCount(session.id);
  const lastKeyAtMs = typing.lastKeyAtMs(session.id);
  if (attached === 0 || lastKeyAtMs === null) return null;
  const agoMs = Date.now() - lastKeyAtMs;
  // A clock that was put back says nothing.
  if (agoMs < 0 || agoMs >= TYPING_MS) return null;
  const ago = `${Math.max(1, Math.round(agoMs / 1000))} s ago`;
  return {
    attached,
    lastKeyAt: new Date(lastKeyAtMs).toISOString(),
    sentence: `Somebody is typing in ${session.name} (attached ${attached}, last key ${ago}).`,
  };
}

/**
 * Refuses what would take the ground from under somebody who types.
 *
 * @throws TERMINAL_IN_USE
 */
export function requireIdleTerminal(
  session: SessionRow,
  { whileTyping }: { whileTyping: boolean },
  engine: Engine,
): void {
  const typist = whileTyping ? null : findActiveTypist(session, engine);
  if (typist === null) return;
  const { attached, lastKeyAt, sentence } = typist;
  throw new WaypointError("TERMINAL_IN_USE", sentence, {
    hint: "Ask them, wait until they have stopped for ten seconds, or give --while-typing (whileTyping in the SDK).",
    detail: { attached, lastKeyAt },
  });
}
