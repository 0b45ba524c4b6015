import type { CheckpointRow } from "../../catalog/index.ts";
import type { GrepMatch, Story } from "../../protocol/index.ts";
import type { EnginePorts } from "../../session/index.ts";
import { readStory } from "../../story/index.ts";

/** Something that programs printed and that a checkpoint tells. */
export interface RecordedOutput {
  kind: Exclude<GrepMatch["kind"], "file">;
  command: string | null;
  lines: readonly string[];
}

/** Returns what a checkpoint tells of outputs: all that is recorded is listed here. */
export async function recordedOutputs(
  row: CheckpointRow,
  ports: EnginePorts,
): Promise<RecordedOutput[]> {
  const story = await readStory(row, ports);
  return [...outputsOfCommands(story), ...screenOf(story)];
}

function outputsOfCommands({ commands }: Story): RecordedOutput[] {
  return (commands ?? []).map(({ command, output }) => ({
    ...{ kind: "command" as const, command },
    lines: output.replace(/\n$/, "").split("\n"),
  }));
}

function screenOf({ terminal }: Story): RecordedOutput[] {
  return terminal === null ? [] : [{ kind: "screen", command: null, lines: terminal.lines }];
}
