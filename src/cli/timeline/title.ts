import type { Checkpoint, Intent } from "../../protocol/index.ts";
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
function meantBy({ intent, derivedIntent, trigger }: Checkpoint, paint: Paint): string {
  if (intent !== null) {
    const text = printable(intent);
    return trigger === "manual" || text === "" ? text : paint("dim", text);
  }
  const found = derivedIntent === null ? "" : describeFound(derivedIntent);
  const made = trigger === "manual" ? "" : trigger.replaceAll("-", " ");
  const text = [made, found].filter((part) => part !== "").join(": ");
  return text === "" ? "" : paint("dim", text);
}

function describeFound({ text, source }: Intent): string {
  return `${SOURCES[source]}${printable(text)}`;
}
