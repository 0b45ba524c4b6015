import type { Checkpoint, Intent } from "../../../shared/protocol/index.ts";
import { printable } from "../text/printable.ts";
import { shownCommand, shownIntent } from "../text/secrets.ts";
import type { Paint } from "../text/style.ts";

/** How an intent begins that nobody said, so that it is told apart without colours too. */
const SOURCES: Readonly<Record<Intent["source"], string>> = {
  given: "",
  command: "$ ",
  operation: "waypoint: ",
  agent: "agent: ",
  git: "git: ",
};

/** A title in two parts: what may be cut where room is short, and what may not. */
export interface Title {
  title: string;
  /** How a command ended: " (exit 1)". */
  titleEnd: string;
}

/** Returns what a checkpoint is, in one text: its name, what was meant, how that ended. */
export function wholeTitle(checkpoint: Checkpoint, paint: Paint): string {
  const { title, titleEnd } = titleOf(checkpoint, null, paint);
  return `${title}${titleEnd}`;
}

/** Returns what a checkpoint is in the timeline: its name, what was meant, what it comes from. */
export function titleOf(checkpoint: Checkpoint, from: string | null, paint: Paint): Title {
  const { name, intent, derivedIntent, tags } = checkpoint;
  const title = [
    name === null ? "" : paint("bold", printable(name)),
    tags.length === 0 ? "" : paint("green", tags.map((tag) => `#${printable(tag)}`).join(" ")),
    checkpoint.task === null ? "" : paint("dim", `[${shownIntent(checkpoint.task)}]`),
    meantBy(checkpoint, paint),
    from === null ? "" : paint("dim", `(from ${from})`),
  ]
    .filter((part) => part !== "")
    .join(" ");
  return { title, titleEnd: intent === null ? endOf(derivedIntent, paint) : "" };
}

/** A command that failed says so, also where another one made the change before. */
export function endOf(intent: Intent | null, paint: Paint): string {
  const { exitCode = 0, failedAfter } = intent ?? {};
  const own = exitCode === 0 ? "" : ` ${paint("red", `(exit ${exitCode})`)}`;
  if (failedAfter === undefined) return own;
  const failed = paint("red", `(exit ${failedAfter.exitCode})`);
  return `${own}; ${shorten(shownCommand(failedAfter.text))} ${failed}`;
}

/** What is never cut is short. */
const FAILED_CHARACTERS_MAX = 20;

function shorten(text: string): string {
  const isShort = text.length <= FAILED_CHARACTERS_MAX;
  return isShort ? text : `${text.slice(0, FAILED_CHARACTERS_MAX - 1).trimEnd()}…`;
}

/** What somebody said stands out from what was found. */
function meantBy(checkpoint: Checkpoint, paint: Paint): string {
  const { intent, derivedIntent, trigger } = checkpoint;
  if (trigger === "auto") return paint("dim", meantByItself(checkpoint));
  if (intent !== null) {
    const text = shownCommand(intent);
    return trigger === "manual" || text === "" ? text : paint("dim", text);
  }
  const found = derivedIntent === null ? "" : describeFound(derivedIntent);
  const made = trigger === "manual" ? "" : trigger.replaceAll("-", " ");
  const text = [made, found].filter((part) => part !== "").join(": ");
  return text === "" ? "" : paint("dim", text);
}

/** What an automatic checkpoint was taken for, and what was run or said. */
function meantByItself({ intent, derivedIntent, autoCause }: Checkpoint): string {
  if (intent !== null) return `auto: ${shownCommand(intent)}`;
  const found = derivedIntent === null ? null : describeFound(derivedIntent);
  if (autoCause === "command") return `auto after ${found ?? "a command"}`;
  const why = autoCause === "edit" ? "auto after edits" : "auto by the clock";
  return found === null ? why : `${why}: ${found}`;
}

function describeFound({ text, source }: Intent): string {
  return `${SOURCES[source]}${shownIntent(text)}`;
}
