import { WaypointError } from "../../../shared/errors/index.ts";
import type { GrepMatch, OperationInput } from "../../../shared/protocol/index.ts";
import { grepMatches } from "../../client/index.ts";
import { type CommandContext, type Invocation, note, underWay } from "../context.ts";
import { EXIT_CODE_NOT_SEARCHED, EXIT_CODE_NOTHING_FOUND } from "../exit-codes.ts";
import { type CallEnds, endedBySignals } from "../leaving.ts";
import { withoutUndefined } from "../session-options.ts";
import { printable } from "../text/printable.ts";
import { shownCommand } from "../text/secrets.ts";
import type { Paint } from "../text/style.ts";

interface GrepOptions {
  outputs?: boolean;
  files?: boolean;
}

/** Searches files and outputs across checkpoints; prints each match as it is found. */
export async function run({
  context,
  options,
  input: { pattern, list = false, ...filters },
}: Invocation<GrepOptions, "grep">): Promise<number> {
  const search = ({ cancel: signal }: CallEnds) => {
    const how = { ...withoutUndefined(filters), list, in: placesOf(options) };
    const matches = grepMatches(context.stateDir, pattern, { signal, ...how });
    return printMatches(context, matches, list);
  };
  using _line = underWay(context, "grep");
  return await endedBySignals("grep", () => {}, search);
}

async function printMatches(
  context: CommandContext,
  matches: ReturnType<typeof grepMatches>,
  isList: boolean,
): Promise<number> {
  const { output, isJson } = context;
  for (let next = await matches.next(); ; next = await matches.next()) {
    if (next.done === true) {
      const { unread } = next.value;
      for (const each of unread) note(context, `waypoint: not searched: ${each}`);
      if (isJson) await output.json(next.value);
      if (unread.length > 0) return EXIT_CODE_NOT_SEARCHED;
      return next.value.matches > 0 ? 0 : EXIT_CODE_NOTHING_FOUND;
    }
    if (isJson) await output.json(next.value);
    else await output.lines([renderMatch(next.value, { isList, paint: output.paint })]);
  }
}

function placesOf({ outputs, files }: GrepOptions): NonNullable<OperationInput<"grep">["in"]> {
  if (outputs && files) {
    throw new WaypointError("USAGE_INVALID", "--outputs and --files leave nothing to search.", {
      hint: "Give one of them, or none to search both.",
    });
  }
  return outputs ? "outputs" : files ? "files" : "both";
}

/** Returns one line; what comes out of sessions has nothing in it that a terminal obeys. */
export function renderMatch(
  match: GrepMatch,
  { isList, paint }: { isList: boolean; paint: Paint },
): string {
  const { checkpoint, until, line, text } = match;
  const isLong = until !== null && until !== checkpoint;
  const where = [isLong ? `${checkpoint}..${until}` : checkpoint, nameOf(match)];
  if (line !== null) return `${paint("dim", [...where, line].join(":"))}: ${printable(text ?? "")}`;
  return isList ? where.join(":") : `${paint("dim", where.join(":"))}: binary file matches`;
}

function nameOf({ kind, path, command }: GrepMatch): string {
  if (kind === "file") return printable(path ?? "");
  if (kind === "screen") return "(screen)";
  return `${kind === "command" ? "$" : "verified with"} ${shownCommand(command ?? "")}`;
}
