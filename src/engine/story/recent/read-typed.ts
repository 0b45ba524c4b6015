import { stripVTControlCharacters } from "node:util";
import type { KeptTerminal, TypedCommand } from "../../../linux/terminal/index.ts";
import type { StoryCommand } from "../../../shared/protocol/index.ts";
import type { MomentPair, ReadContext } from "../../moment/index.ts";
import { readMainTerminal } from "./main-terminal.ts";

/** The end of a command's output that is kept. */
const OUTPUT_BYTES_MAX = 64 * 1024;
/** What a program shows on the other screen, an editor for instance, goes with it. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: terminals speak in these.
const OTHER_SCREEN = /\u001b\[\?(?:1049|1047|47)h[\s\S]*?(?:\u001b\[\?(?:1049|1047|47)l|$)/g;
/** Of a line that was written over, a progress bar for instance, the last state is what one reads. */
const WRITTEN_OVER = /[^\n]*\r(?=[^\n])/g;
/** zsh makes sure that its prompt begins a line. */
const BLANK_END = / *\r$/;

/**
 * Returns what was typed into the session's terminal between two moments, oldest first.
 *
 * Init notes it in its memory, so it is in the images of the very capture, and a restore or a fork
 * goes on with what was noted there.
 *
 * @throws Error  the moment has no images, or an older init does not note it.
 */
export async function listTyped(
  pair: MomentPair,
  { engine }: ReadContext,
): Promise<StoryCommand[]> {
  const terminal = await readMainTerminal(pair.to, engine);
  if (terminal?.typed == null) throw new Error("the first process is of an older Waypoint");
  const isOld = await endedBefore(pair, { engine });
  return terminal.typed.filter((typed) => !isOld(typed)).map((typed) => tell(typed, terminal));
}

/** Tells which commands had ended at the first moment already. */
async function endedBefore(
  { from }: MomentPair,
  { engine }: Pick<ReadContext, "engine">,
): Promise<(typed: TypedCommand) => boolean> {
  const { checkpoint } = from;
  if (from.kind === "fresh") return () => false;
  if (checkpoint?.content === "files") {
    const atMs = Date.parse(checkpoint.createdAt);
    return ({ startedAtMs, durationMs }) => durationMs !== null && startedAtMs + durationMs < atMs;
  }
  const earlier = await readMainTerminal(from, engine);
  const ended = (earlier?.typed ?? []).filter(({ durationMs }) => durationMs !== null);
  const keys = new Set(ended.map(keyOf));
  return (typed) => keys.has(keyOf(typed));
}

/** A new instance of a session counts anew, at another time. */
function keyOf({ number, startedAtMs }: TypedCommand): string {
  return `${number} ${startedAtMs}`;
}

function tell(typed: TypedCommand, { output, outputStart }: KeptTerminal): StoryCommand {
  const start = Math.max(typed.outputStart, outputStart, typed.outputEnd - OUTPUT_BYTES_MAX);
  const bytes = output.subarray(start - outputStart, Math.max(0, typed.outputEnd - outputStart));
  return {
    command: typed.command,
    by: "terminal",
    startedAt: new Date(typed.startedAtMs).toISOString(),
    durationMs: typed.durationMs,
    exitCode: typed.exitCode,
    output: readable(bytes.toString("utf8")),
    outputBytes: typed.outputEnd - typed.outputStart,
  };
}

function readable(shown: string): string {
  const lines = stripVTControlCharacters(shown.replace(OTHER_SCREEN, ""));
  return lines.replace(/\r+\n/g, "\n").replace(WRITTEN_OVER, "").replace(BLANK_END, "");
}
