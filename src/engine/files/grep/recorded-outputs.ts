import type { CheckpointRow } from "../../../portable/model/index.ts";
import type { GrepMatch, Story } from "../../../shared/protocol/index.ts";
import type { Engine } from "../../ports/index.ts";
import { readStory } from "../../story/index.ts";
import type { Searched } from "./select-checkpoints.ts";

/** Something that programs printed and that a checkpoint tells. */
export interface RecordedOutput {
  kind: Exclude<GrepMatch["kind"], "file">;
  command: string | null;
  lines: readonly OutputLine[];
}

/** A line with its number in the output, from 1. */
interface OutputLine {
  number: number;
  text: string;
}

/**
 * Returns what a checkpoint tells of outputs and the one before it did not: all that is recorded is
 * listed here.
 */
export async function recordedOutputs(
  { row, before }: Searched,
  engine: Engine,
): Promise<RecordedOutput[]> {
  const story = await readStory(row, engine);
  return [
    ...outputsOfCommands(story),
    ...(await newOnScreen(story, before, engine)),
    ...outputsOfVerifications(row, engine),
  ];
}

function outputsOfVerifications({ id }: CheckpointRow, { catalog }: Engine): RecordedOutput[] {
  return catalog.verifications
    .of(id)
    .map(({ command, output }) => ({ kind: "verification", command, lines: linesOf(output) }));
}

function outputsOfCommands({ commands }: Story): RecordedOutput[] {
  return (commands ?? []).map(({ command, output }) => ({
    ...{ kind: "command", command, lines: linesOf(output) },
  }));
}

/** What stays on a screen is told once, by the first checkpoint that has it. */
async function newOnScreen(
  { terminal }: Story,
  before: CheckpointRow | null,
  engine: Engine,
): Promise<RecordedOutput[]> {
  if (terminal === null) return [];
  const earlier = before === null ? null : (await readStory(before, engine)).terminal;
  const known = new Set(earlier?.lines ?? []);
  const lines = numbered(terminal.lines).filter(({ text }) => !known.has(text));
  return [{ kind: "screen", command: null, lines }];
}

function linesOf(output: string): OutputLine[] {
  return numbered(output.replace(/\n$/, "").split("\n"));
}

function numbered(lines: readonly string[]): OutputLine[] {
  return lines.map((text, index) => ({ number: index + 1, text }));
}
