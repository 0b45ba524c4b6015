import { z } from "zod";

/** Length of an id: 10 characters of 32 give 50 random bits. */
export const ID_LENGTH = 10;

/** Longest name of a session or a checkpoint, in characters. */
export const NAME_LENGTH_MAX = 64;

const NAME_PATTERN = /^[A-Za-z0-9][A-Za-z0-9._-]*$/;

/** Tells whether `text` can be a name: letters, digits, dot, underscore and hyphen. */
export function isValidName(text: string): boolean {
  return text.length <= NAME_LENGTH_MAX && NAME_PATTERN.test(text);
}

/**
 * A reference as a person types it: a name, an id, a unique prefix, `NAME@` or `NAME@~2`.
 *
 * Wider than a name, so that a reference to nothing is "not found" rather than "invalid".
 */
export const referenceSchema = z.string().min(1).max(1024);

/** A moment in ISO 8601 with milliseconds, UTC. */
export const instantSchema = z.iso.datetime();
