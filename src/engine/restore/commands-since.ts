import type { CommandRow } from "../../portable/catalog/index.ts";
import { ancestry } from "../../portable/lineage/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { RestorePlan } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";

const COMMANDS_MAX = 1000;

/** The commands that came after a checkpoint, oldest first, and why not all are told. */
export type CommandsSince = Pick<RestorePlan, "commands" | "commandsUnknown">;

/**
 * Returns the commands that were run in a session since a checkpoint; where that is on another
 * branch, since the branches parted.
 */
export function commandsSince(
  session: SessionRow,
  target: CheckpointRow,
  engine: Engine,
): CommandsSince {
  const behind = new Set(ancestry(target.id, engine.catalog).map(({ id }) => id));
  const line = ancestry(session.head, engine.catalog);
  const parted = line.findIndex(({ id }) => behind.has(id));
  const since = parted === -1 ? line : line.slice(0, parted + 1);
  const { commands: log } = engine.catalog;
  const found: CommandRow[] = [];
  const untold: string[] = [];
  let later = engine.journal.soFar(session.instance ?? "") ?? undefined;
  if (later === undefined) untold.push(session.name);
  for (const { id } of since) {
    const capture = log.capture(id);
    if (capture === undefined) untold.push(id);
    if (later !== undefined) found.push(...between(capture, later, engine));
    later = capture ?? later;
  }
  if (parted === -1 && later !== undefined) found.push(...between(undefined, later, engine));
  // One that ran at a checkpoint is told again with its end, by what came later.
  const byStart = new Map(
    found.toReversed().map((row) => [`${row.startedAt} ${row.command}`, row]),
  );
  const commands = [...byStart.values()]
    .sort((one, other) => (one.startedAt < other.startedAt ? -1 : 1))
    .map(({ command, by, startedAt, durationMs, exitCode }) => ({
      ...{ command, by, startedAt, durationMs, exitCode },
    }));
  const left = commands.length - COMMANDS_MAX;
  const reasons = [
    ...(untold.length === 0
      ? []
      : [`it was not noted what had been run until ${untold.join(", ")}`]),
    ...(left > 0 ? [`the first ${left} are left out`] : []),
  ];
  return {
    commands: commands.slice(-COMMANDS_MAX),
    commandsUnknown: reasons.length === 0 ? null : reasons.join("; "),
  };
}

type Capture = NonNullable<ReturnType<Engine["journal"]["soFar"]>>;

function between(earlier: Capture | undefined, later: Capture, { catalog }: Engine): CommandRow[] {
  const after = earlier?.instance === later.instance ? earlier.lastCommand : 0;
  return [...catalog.commands.between(later.instance, after, later.lastCommand), ...later.running];
}
