import type { ApprovalInfo } from "../../../shared/protocol/index.ts";
import { describeCaller } from "../text/caller.ts";
import { displayWidth } from "../text/display-width.ts";
import { printable } from "../text/printable.ts";
import { shownCommand } from "../text/secrets.ts";

/** Of a command that does not fit at least so much is shown. */
const COMMAND_COLUMNS_MIN = 12;
const ASKER_COLUMNS_MAX = 40;

/** Returns how long a person has still: "14:59", "1:02:03". */
export function timeLeft(expiresAt: string, nowMs: number): string {
  const seconds = Math.max(0, Math.ceil((Date.parse(expiresAt) - nowMs) / 1000));
  const two = (value: number) => String(value).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  const minutes = Math.floor(seconds / 60) % 60;
  return hours > 0
    ? `${hours}:${two(minutes)}:${two(seconds % 60)}`
    : `${minutes}:${two(seconds % 60)}`;
}

/**
 * Returns the one line that says what waits, who asks, until when, and how it is answered. Nothing in it
 * moves the cursor; secrets are hidden; what does not fit is cut out of the command, never of the keys.
 */
export function heldLine(
  { command, askedBy, expiresAt, rule }: ApprovalInfo,
  { columns, nowMs, keys }: { columns: number; nowMs: number; keys: string },
): string {
  const asker = describeCaller(askedBy);
  const by = asker === "" ? "" : ` asked by ${cut(asker, ASKER_COLUMNS_MAX)},`;
  // What the command says itself is not said twice.
  const start = `Approve ${command.startsWith(rule) ? "" : `${printable(rule)}: `}`;
  const end = ` —${by} ${timeLeft(expiresAt, nowMs)} left. ${keys}`;
  const commandRoom = columns - 1 - displayWidth(start) - displayWidth(end);
  const whole = `${start}${cut(shownCommand(command), Math.max(COMMAND_COLUMNS_MIN, commandRoom))}${end}`;
  if (displayWidth(whole) < columns) return whole;
  // On a narrow terminal the keys are what matters most.
  const short = ` ${timeLeft(expiresAt, nowMs)} left. ${keys}`;
  const room = columns - 1 - displayWidth(short);
  return room < 2 ? short.slice(0, Math.max(0, columns - 1)) : cut(start, room) + short;
}

/** Cuts by columns; a character is taken whole or not at all. */
function cut(text: string, columnsMax: number): string {
  if (displayWidth(text) <= columnsMax) return text;
  let shown = "";
  for (const character of text) {
    if (displayWidth(shown + character) >= columnsMax) break;
    shown += character;
  }
  return `${shown}…`;
}
