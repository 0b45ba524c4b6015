import { readFileSync } from "node:fs";
import type { Caller } from "../../shared/protocol/index.ts";

/** What a client may say of itself; all else is left out. */
const SURFACE = /^[a-z][a-z-]{0,19}$/;
const USER = /^[\w.@\\-]{1,64}$/;
const TTY = /^\/dev\/[\w/]{1,40}$/;

/** Returns who asks: whose process the kernel says it is, and what that says of itself, in bounds. */
export function callerOf(uid: number | null, told: unknown): Caller {
  const said = (typeof told === "object" && told !== null ? told : {}) as Record<string, unknown>;
  const { surface, sudoUser, tty } = said;
  return {
    uid,
    user: uid === null ? null : nameOf(uid),
    surface: matching(surface, SURFACE),
    sudoUser: matching(sudoUser, USER),
    tty: matching(tty, TTY),
  };
}

function matching(value: unknown, pattern: RegExp): string | null {
  return typeof value === "string" && pattern.test(value) ? value : null;
}

/** As this machine's own table says; a user of elsewhere has a number. */
function nameOf(uid: number): string | null {
  try {
    const lines = readFileSync("/etc/passwd", "utf8").split("\n");
    const fields = lines.map((line) => line.split(":")).find((each) => each[2] === String(uid));
    return matching(fields?.[0], USER);
  } catch {
    return null;
  }
}
