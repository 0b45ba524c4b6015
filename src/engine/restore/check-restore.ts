import type { RawPath } from "../../base/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { ChangesSection, RestoreCheck, RestoreParts } from "../../shared/protocol/index.ts";
import { openMoment } from "../moment/index.ts";
import type { Engine } from "../ports/index.ts";
import { compareMoments, WHOLE_SCOPE } from "../story/index.ts";
import { scopeOf } from "./file-scope.ts";

const PATHS_MAX = 20;
const FILES_MAX = 1000;
const MS_DIGITS = 100;

/** What was to be there, and where it was taken from. */
export interface Expected {
  parts: RestoreParts;
  /** What processes and ports were put back from; `null` where they went on. */
  processesOf: CheckpointRow | null;
  filesOf: CheckpointRow;
  /** Only these paths, as bytes; `null` for all in the parts. */
  paths: ReadonlySet<RawPath> | null;
}

/**
 * Compares a session that was just put back with what was to be there, by the same readers as the
 * plan.
 *
 * Programs run again by now, and may have written something: that is told, not judged.
 */
export async function checkRestore(
  session: SessionRow,
  expected: Expected,
  engine: Engine,
  signal: AbortSignal,
): Promise<RestoreCheck> {
  const startedAtMs = performance.now();
  const { files, unknown } = await checkFiles(session, expected, engine, signal);
  const running = await checkProcesses(session, expected, engine, signal);
  const all = { ...unknown, ...running.unknown };
  const { processes, ports: listening } = running;
  const differences = [
    files?.count ?? 0,
    ...[processes?.missing, processes?.others].map((list) => list?.length ?? 0),
    ...[listening?.missing, listening?.others].map((list) => list?.length ?? 0),
  ];
  return {
    asPlanned: differences.every((count) => count === 0) && Object.keys(all).length === 0,
    ...{ files, processes, ports: listening, unknown: all },
    tookMs: Math.round((performance.now() - startedAtMs) * MS_DIGITS) / MS_DIGITS,
  };
}

async function checkFiles(
  session: SessionRow,
  { parts, filesOf, paths }: Expected,
  engine: Engine,
  signal: AbortSignal,
): Promise<Pick<RestoreCheck, "files" | "unknown">> {
  const isInScope = scopeOf(parts);
  const isWanted = (rawPath: RawPath) => paths?.has(rawPath) ?? isInScope(rawPath);
  const changes = await compare(
    session,
    filesOf,
    { sections: ["files"], isWanted },
    engine,
    signal,
  );
  const { files, fileTotals, unknown } = changes;
  if (files === null || fileTotals === null)
    return { files: null, unknown: { files: unknown["files"] ?? "" } };
  const count = Object.values(fileTotals).reduce((sum, each) => sum + each, 0);
  const shown = files.slice(0, PATHS_MAX).map(({ path }) => path);
  return { files: { count, paths: shown }, unknown: {} };
}

async function checkProcesses(
  session: SessionRow,
  expected: Expected,
  engine: Engine,
  signal: AbortSignal,
): Promise<Pick<RestoreCheck, "processes" | "ports" | "unknown">> {
  const processesOf = asItIsNow(expected.processesOf, engine);
  // Of files alone nothing is known to compare a fresh shell with.
  if (processesOf === null || processesOf.content === "files") {
    return { processes: null, ports: null, unknown: {} };
  }
  const sections: ChangesSection[] = ["processes", "ports"];
  const changes = await compare(session, processesOf, { sections }, engine, signal);
  const { processes, ports: listening, unknown } = changes;
  const missing = sections.filter((section) => changes[section] === null);
  return {
    processes: processes === null ? null : { missing: processes.ended, others: processes.started },
    ports: listening === null ? null : { missing: listening.closed, others: listening.opened },
    unknown: Object.fromEntries(missing.map((section) => [section, unknown[section] ?? ""])),
  };
}

async function compare(
  session: SessionRow,
  checkpoint: CheckpointRow,
  asked: { sections: ChangesSection[]; isWanted?: (rawPath: RawPath) => boolean },
  engine: Engine,
  signal: AbortSignal,
) {
  const from = asItIsNow(checkpoint, engine) ?? checkpoint;
  await using earlier = await openMoment({ checkpoint: from }, engine);
  await using to = await openMoment({ session }, engine);
  const scope = { ...WHOLE_SCOPE, isExpanded: true, filesMax: FILES_MAX, ...asked };
  return await compareMoments({ from: earlier, to }, { scope, engine, signal });
}

/** The restore itself may have dumped what was held by a frozen tree until then. */
function asItIsNow(row: CheckpointRow | null, { catalog }: Engine): CheckpointRow | null {
  return row === null ? null : (catalog.checkpoint(row.id) ?? row);
}
