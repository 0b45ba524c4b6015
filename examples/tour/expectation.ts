import { setTimeout as pause } from "node:timers/promises";

const POLL_INTERVAL_MS = 50;

/** Something that the tour claims did not come true; `hint` says how to go on. */
export class TourFailure extends Error {
  readonly hint: string | null;

  constructor(message: string, hint: string | null = null) {
    super(message);
    this.name = "TourFailure";
    this.hint = hint;
  }
}

/** Ends the tour with `sentence` unless `isTrue`. */
export function expectThat(isTrue: boolean, sentence: string): void {
  if (!isTrue) throw new TourFailure(sentence);
}

/** Ends the tour unless `found` is `wanted`; both are shown. */
export function expectSame(what: string, found: unknown, wanted: unknown): void {
  const [foundText, wantedText] = [asText(found), asText(wanted)];
  if (foundText === wantedText) return;
  throw new TourFailure(`${what}: expected ${wantedText}, found ${foundText}`);
}

/** Asks `probe` until it answers something other than undefined, at most `deadlineMs` long. */
export async function waitFor<T>(
  what: string,
  deadlineMs: number,
  probe: () => Promise<T | undefined>,
): Promise<T> {
  const endMs = performance.now() + deadlineMs;
  for (;;) {
    const answer = await probe();
    if (answer !== undefined) return answer;
    if (performance.now() > endMs) {
      throw new TourFailure(`Waited ${deadlineMs / 1000} s for ${what}.`);
    }
    await pause(POLL_INTERVAL_MS);
  }
}

function asText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
