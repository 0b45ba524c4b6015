import type { Checkpoint, Intent } from "../../../shared/protocol/index.ts";
import { printable } from "../text/printable.ts";
import type { Paint } from "../text/style.ts";

/** How an intent begins that nobody said, so that it is told apart without colours too. */
const SOURCES: Readonly<Record<Intent["source"], string>> = {
  given: "",
  command: "$ ",
  agent: "agent: ",
  git: "git: ",
};

/** Returns what a checkpoint is in the timeline: its name, what was meant, what it comes from. */
export function titleOf(checkpoint: Checkpoint, from: string | null, paint: Paint): string {
  const { name } = checkpoint;
  return [
    name === null ? "" : paint("bold", printable(name)),
    meantBy(checkpoint, paint),
    from === null ? "" : paint("dim", `(from ${from})`),
  ]
    .filter((part) => part !== "")
    .join(" ");
}

/** What somebody said stands out from what was found. */
function meantBy(checkpoint: Checkpoint, paint: Paint): string {
  const { intent, derivedIntent, trigger } = checkpoint;
  if (trigger === "auto") return paint("dim", meantByItself(checkpoint));
  if (intent !== null) {
    const text = printable(intent);
    return trigger === "manual" || text === "" ? text : paint("dim", text);
  }
  const found = derivedIntent === null ? "" : describeFound(derivedIntent);
  const made = trigger === "manual" ? "" : trigger.replaceAll("-", " ");
  const text = [made, found].filter((part) => part !== "").join(": ");
  return text === "" ? "" : paint("dim", text);
}

/** What an automatic checkpoint was taken for, and what was run or said. */
function meantByItself({ intent, derivedIntent, autoCause }: Checkpoint): string {
  if (intent !== null) return `auto: ${printable(intent)}`;
  const found = derivedIntent === null ? null : describeFound(derivedIntent);
  if (autoCause === "command") return `auto after ${found ?? "a command"}`;
  const why = autoCause === "edit" ? "auto after edits" : "auto by the clock";
  return found === null ? why : `${why}: ${found}`;
}

function describeFound({ text, source }: Intent): string {
  return `${SOURCES[source]}${printable(text)}`;
}
