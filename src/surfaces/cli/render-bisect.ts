import type { BisectEvent, BisectTest, OperationOutput } from "../../shared/protocol/index.ts";
import type { Output } from "./output.ts";
import { truncate } from "./text/display-width.ts";
import { printable } from "./text/printable.ts";
import { formatDuration } from "./text/quantities.ts";
import type { Paint } from "./text/style.ts";
import { wholeTitle } from "./timeline/title.ts";

type Bisected = OperationOutput<"bisect">;

/** Candidates and skipped checkpoints that are listed; --json has all. */
const LISTED_MAX = 20;

/** Returns what a person is told while the search goes on. */
export function renderBisectEvent(event: BisectEvent, paint: Paint): string[] {
  if (event.event === "begin") {
    const { checkpoints, roundsMax, concurrency } = event;
    const among = `Looking for the first bad one of ${counted(checkpoints, "checkpoint")}`;
    return [`${among}: at most ${counted(roundsMax, "round")}, ${concurrency} at once.`];
  }
  if (event.event === "test") return [`  ${describeTest(event, paint)}`];
  const { round, left, good, bad } = event;
  const where = left === 1 ? `it is ${bad}` : `${left} left, after ${good} up to ${bad}`;
  return [paint("dim", `Round ${round}: ${where}`)];
}

function describeTest(test: BisectTest, paint: Paint): string {
  const { checkpoint, name, verdict, isReused, verification, error } = test;
  const which = name === null ? checkpoint : `${checkpoint} (${printable(name)})`;
  const mark = { good: paint("green", "✓"), bad: paint("red", "✗"), skip: "-" }[verdict];
  if (verification === null) return `${mark} ${which}  skipped: ${printable(error?.message ?? "")}`;
  const { exitCode, timedOut, durationMs } = verification;
  const why = timedOut ? "took too long" : `exit code ${exitCode}`;
  const when = isReused ? "known from before" : formatDuration(durationMs);
  const said = { good: "good", bad: `bad, ${why}`, skip: `skipped, ${why}` }[verdict];
  return `${mark} ${which}  ${said} (${when})`;
}

/** Returns what was found, with the story of the first bad checkpoint in brief. */
export function renderBisected(
  found: Bisected,
  { columns, paint }: Pick<Output, "columns" | "paint">,
): string[] {
  const { firstBad, candidates, lastGood, rounds, forks, reused } = found;
  const known = reused === 0 ? "" : `, ${counted(reused, "result")} known before`;
  const cost = `${counted(rounds, "round")}, ${counted(forks, "fork")}${known}.`;
  if (firstBad === null) {
    return [
      "The first bad checkpoint could be any of these, as those between could not be tested:",
      ...listed(candidates),
      ...renderSkipped(found),
      cost,
    ];
  }
  const title = wholeTitle(firstBad, paint);
  const { summary } = firstBad.changes;
  return [
    `${firstBad.id} is the first bad checkpoint`,
    ...(title === "" ? [] : [truncate(`  ${title}`, columns)]),
    ...(summary === "" ? [] : [truncate(`  Changes: ${printable(summary)}`, columns)]),
    ...renderSkipped(found),
    `${cost} See \`waypoint diff ${lastGood} ${firstBad.id}\` and \`waypoint show ${firstBad.id}\`.`,
  ];
}

function renderSkipped({ skipped }: Bisected): string[] {
  if (skipped.length === 0) return [];
  const lines = skipped.map(({ checkpoint, reason }) => `${checkpoint}: ${printable(reason)}`);
  return [`${counted(skipped.length, "checkpoint")} could not be tested:`, ...listed(lines)];
}

function listed(lines: readonly string[]): string[] {
  const more = lines.length - LISTED_MAX;
  const shown = lines.slice(0, LISTED_MAX).map((line) => `  ${line}`);
  return more > 0 ? [...shown, `  … ${more} more, see --json`] : shown;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? "" : "s"}`;
}
