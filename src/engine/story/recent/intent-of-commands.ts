import type { Intent, StoryCommand } from "../../../shared/protocol/index.ts";

/**
 * A longer one is no intent that anyone reads. It is more than is shown: what is secret in it must be
 * hidden before it is cut, since half of a secret is not known for one.
 */
const CHARACTERS_MAX = 2_000;
/** Commands that only look; what is written or run behind them (`>`, `|`, `;`, `&`) makes them others. */
const LOOKS =
  /^\s*(sudo\s+)?(ls|ll|la|cd|pwd|cat|less|more|head|tail|ps|top|htop|df|du|free|which|type|file|stat|wc|grep|rg|find|tree|env|printenv|date|whoami|id|uname|history|clear|true|echo|man|ss|netstat|git\s+(status|log|diff|show|branch))\b[^;&|>`$]*$/;

/**
 * Returns what was meant by commands: the one that made the change, with its exit code, and the last
 * one too where that failed.
 *
 * @param changedAtMs  when the files that matter were changed, as far as that is known.
 * @param operation    the last one that changed files: it is meant where no command did.
 */
export function intentOfCommands(
  commands: readonly StoryCommand[],
  changedAtMs: readonly number[],
  operation: { text: string; endedAtMs: number } | null = null,
): Intent | null {
  const acting = commands.filter(({ command }) => !LOOKS.test(command) && oneLine(command) !== "");
  const lastOfAll = commands.at(-1);
  // Who looked and did not find it is told of a failure, too.
  const last = [acting.at(-1), lastOfAll].find(isFailed) ?? acting.at(-1) ?? lastOfAll;
  const changing = acting.findLast((each) => changedAtMs.some((ms) => isDuring(ms, each)));
  if (changing === undefined && operation !== null) return intentOfOperation(operation, last);
  const maker = changing ?? acting.at(-1) ?? last;
  if (last === undefined || maker === undefined) return null;
  const text = oneLine(maker.command);
  if (text === "") return null;
  return {
    ...{ text, source: "command" },
    ...(maker.exitCode === null ? {} : { exitCode: maker.exitCode }),
    ...(maker === last ? {} : failedAfter(last)),
  };
}

/** What failed before it may be why it was done, and is not told as its end. */
function intentOfOperation(
  { text, endedAtMs }: { text: string; endedAtMs: number },
  last: StoryCommand | undefined,
): Intent {
  const isLater = last !== undefined && Date.parse(last.startedAt) >= endedAtMs;
  return { text, source: "operation", ...(isLater ? failedAfter(last) : {}) };
}

function failedAfter(last: StoryCommand | undefined): Pick<Intent, "failedAfter"> {
  if (last === undefined || !isFailed(last)) return {};
  return { failedAfter: { text: oneLine(last.command), exitCode: last.exitCode ?? 0 } };
}

/** Returns a text on one line, with room for what is hidden in it. */
export function oneLine(text: string): string {
  return text
    .trim()
    .replace(/\s*\n\s*/g, " ")
    .slice(0, CHARACTERS_MAX);
}

function isFailed(command: StoryCommand | undefined): boolean {
  return command !== undefined && command.exitCode !== null && command.exitCode !== 0;
}

function isDuring(instantMs: number, { startedAt, durationMs }: StoryCommand): boolean {
  const startMs = Date.parse(startedAt);
  const endMs = durationMs === null ? Number.POSITIVE_INFINITY : startMs + durationMs;
  return instantMs >= startMs && instantMs <= endMs;
}
