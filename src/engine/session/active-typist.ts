import type { SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";

/** Within this time after a key somebody is still at work. */
const TYPING_MS = 10_000;

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
