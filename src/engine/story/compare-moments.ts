import type { Changes, ChangesSection } from "../../shared/protocol/index.ts";
import type { CompareScope, MomentPair, ReadContext } from "../moment/index.ts";
import { type ChangesReader, NOTHING_TOLD, type SummaryPart } from "./section.ts";
import { CHANGES_READERS } from "./sections.ts";
import { withDeadline } from "./with-deadline.ts";

const SECTIONS: Record<ChangesSection, true> = {
  ...{ files: true, packages: true, processes: true, ports: true, connections: true },
  ...{ env: true, functions: true, cwd: true, virtualenv: true, git: true },
};
const NOT_READ = "this version of Waypoint does not read it";
const NOT_ASKED_FOR = "it was not asked for";

/** What a comparison lists, unless it is asked for something else. */
export const WHOLE_SCOPE: CompareScope = {
  ...{ under: null, isExpanded: false, filesMax: 10_000, withPatches: false },
  sections: null,
};

/**
 * Compares two moments section by section, each failing alone.
 *
 * Never rejects because of what a section holds: one that cannot be read is `null`, with the reason
 * in `unknown`.
 */
export async function compareMoments(
  pair: MomentPair,
  context: ReadContext,
  readers: readonly ChangesReader[] = CHANGES_READERS,
): Promise<Changes> {
  const { sections: asked } = context.scope;
  const isAsked = (section: ChangesSection) => asked === null || asked.includes(section);
  const needed = readers.filter((reader) => reader.sections.some(isAsked));
  const parts = await Promise.all(needed.map((reader) => readPart(reader, pair, context)));
  const changes = Object.assign(nothingKnown(NOT_READ), ...parts) as Changes;
  const sections = Object.keys(SECTIONS) as ChangesSection[];
  const reasons = Object.assign({}, ...parts.map(({ unknown }) => unknown ?? {}));
  const missing = sections.filter((section) => changes[section] === null);
  const left = sections.filter((section) => !isAsked(section));
  // A reader may also name a part of a section that it could not read.
  changes.unknown = {
    ...Object.fromEntries(missing.map((section) => [section, NOT_READ])),
    ...reasons,
    ...Object.fromEntries(left.map((section) => [section, NOT_ASKED_FOR])),
  };
  for (const section of left) changes[section] = null;
  if (!isAsked("files")) changes.fileTotals = null;
  const told = needed.map((reader) => summarize(reader, changes));
  changes.summary = [
    ...told.flatMap(({ named }) => named),
    ...told.flatMap(({ counted }) => counted),
  ].join(", ");
  return changes;
}

/** Returns changes of which nothing is known, for `reason`. */
export function nothingKnown(reason: string): Changes {
  const sections = Object.keys(SECTIONS) as ChangesSection[];
  const nulls = Object.fromEntries(sections.map((section) => [section, null]));
  const unknown = Object.fromEntries(sections.map((section) => [section, reason]));
  return { summary: "", fileTotals: null, ...nulls, unknown } as unknown as Changes;
}

async function readPart(
  reader: ChangesReader,
  pair: MomentPair,
  context: ReadContext,
): Promise<Partial<Changes>> {
  try {
    return await withDeadline(context, (bounded) => reader.read(pair, bounded));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    context.engine.logger.warn("a section of a story is unknown", {
      ...{ sections: reader.sections, from: pair.from.name, to: pair.to.name, reason },
    });
    return { unknown: Object.fromEntries(reader.sections.map((section) => [section, reason])) };
  }
}

function summarize(reader: ChangesReader, changes: Changes): SummaryPart {
  try {
    return reader.summarize(changes);
  } catch {
    return NOTHING_TOLD;
  }
}
