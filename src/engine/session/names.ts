import { randomInt } from "node:crypto";
import { WaypointError } from "../../shared/errors/index.ts";
import { isValidName, NAME_LENGTH_MAX } from "../../shared/protocol/index.ts";

const ADJECTIVES = [
  "amber",
  "brisk",
  "calm",
  "deep",
  "even",
  "fair",
  "green",
  "high",
  "keen",
  "mild",
];
const NOUNS = [
  "birch",
  "brook",
  "cliff",
  "dune",
  "field",
  "grove",
  "harbor",
  "lake",
  "ridge",
  "vale",
];
const SHOWN_LENGTH_MAX = 80;

/** Checks a name that a user gave. @throws NAME_INVALID */
export function requireValidName(name: string): string {
  if (isValidName(name)) return name;
  const shown = name.length > SHOWN_LENGTH_MAX ? `${name.slice(0, SHOWN_LENGTH_MAX)}…` : name;
  throw new WaypointError("NAME_INVALID", `${JSON.stringify(shown)} cannot be a name.`, {
    hint: `A name has at most ${NAME_LENGTH_MAX} letters, digits, dots, underscores and hyphens, and begins with a letter or digit.`,
    detail: { length: name.length },
  });
}

/** Makes up a name that `isTaken` does not know. */
export function makeUpName(isTaken: (name: string) => boolean): string {
  for (let attempt = 0; ; attempt += 1) {
    const words = `${pick(ADJECTIVES)}-${pick(NOUNS)}`;
    const name = attempt < 5 ? words : `${words}-${randomInt(1000, 10_000)}`;
    if (!isTaken(name)) return name;
  }
}

/** Returns `wanted` for one fork, `wanted-1`, `wanted-2`, … for several. */
export function numberedNames(wanted: string, count: number): string[] {
  if (count === 1) return [wanted];
  return Array.from({ length: count }, (_, index) => `${wanted}-${index + 1}`);
}

function pick(words: readonly string[]): string {
  return words[randomInt(words.length)] as string;
}
