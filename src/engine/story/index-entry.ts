import { stripVTControlCharacters } from "node:util";
import type { StoryEntry } from "../../portable/catalog/index.ts";
import type { StoryRow } from "../../portable/model/index.ts";
import type {
  Changes,
  FileChange,
  FileTotals,
  Intent,
  Story,
} from "../../shared/protocol/index.ts";

/** Longest text of one checkpoint that can be searched; the newest commands have theirs first. */
const TEXT_CHARACTERS_MAX = 128 * 1024;

type Touched = StoryEntry["touched"][number];

/** Returns what the catalog notes of a story: what the timeline shows and what it is found by. */
export function indexEntry(story: Story): StoryEntry {
  const { checkpoint, changes, intent, commands } = story;
  const packages = changes.packages ?? [];
  return {
    ...{ checkpoint, summary: changes.summary },
    ...intentColumns(intent),
    touched: [
      ...(changes.files ?? []).flatMap(touchedBy),
      ...packages.map(({ name }) => ({ kind: "package", name }) as const),
      ...unknownSections(story).map((name) => ({ kind: "unknown", name }) as const),
    ],
    text: searchableText({ intent, changes, commands }),
  };
}

/** Returns an intent as the catalog keeps it. */
export function intentColumns(intent: Intent | null): Omit<StoryRow, "checkpoint" | "summary"> {
  return {
    intent: intent?.text ?? null,
    intentSource: intent?.source ?? null,
    intentExitCode: intent?.exitCode ?? null,
    failedAfter: intent?.failedAfter?.text ?? null,
    failedAfterExitCode: intent?.failedAfter?.exitCode ?? null,
  };
}

/** Returns an intent from what the catalog has kept, or `null` where there was none. */
export function intentFrom(row: Omit<StoryRow, "checkpoint" | "summary">): Intent | null {
  const {
    intent: text,
    intentSource: source,
    intentExitCode,
    failedAfter,
    failedAfterExitCode,
  } = row;
  if (text === null || source === null) return null;
  const hasFailed = failedAfter !== null && failedAfterExitCode !== null;
  return {
    ...{ text, source },
    ...(intentExitCode === null ? {} : { exitCode: intentExitCode }),
    ...(hasFailed ? { failedAfter: { text: failedAfter, exitCode: failedAfterExitCode } } : {}),
  };
}

/** A group stands for what lies below it, and a renamed directory has taken it all along. */
function touchedBy({ path, from, group, change, type }: FileChange): Touched[] {
  const isFolder = group !== undefined || (change === "renamed" && type === "directory");
  const kind = isFolder ? "folder" : "path";
  const paths = from === undefined ? [path] : [path, from];
  return paths.map((name) => ({ kind, name }));
}

/** Sections that were not read, or of which a part is missing. */
function unknownSections({ changes, commands, unknown }: Story): string[] {
  const reasons = Object.keys({ ...changes.unknown, ...unknown });
  const isPartial = (section: string) => reasons.some((reason) => reason.startsWith(section));
  return [
    ...(changes.files === null || isPartial("files") || isCut(changes) ? ["files"] : []),
    ...(changes.packages === null || isPartial("packages") ? ["packages"] : []),
    ...(commands === null || isPartial("commands") ? ["commands"] : []),
  ];
}

/** The list of files ends somewhere; the totals count beyond it. */
function isCut({ files, fileTotals }: Changes): boolean {
  const count = (totals: FileTotals | null) =>
    Object.values(totals ?? {}).reduce((sum: number, each: number) => sum + each, 0);
  const listed = (files ?? []).reduce((sum, { totals }) => sum + (totals ? count(totals) : 1), 0);
  return count(fileTotals) > listed;
}

function searchableText({
  intent,
  changes,
  commands,
}: Pick<Story, "intent" | "changes" | "commands">): string {
  const said = [
    intent?.text ?? "",
    ...(changes.git ?? []).flatMap((repository) => repository.commits.map((each) => each.subject)),
    ...(commands ?? []).map(({ command }) => command),
  ];
  const printed = (commands ?? []).toReversed().map(({ output }) => output);
  // Colours would part words.
  const text = stripVTControlCharacters([...said, ...printed].filter(Boolean).join("\n"));
  return text.slice(0, TEXT_CHARACTERS_MAX).toLowerCase();
}
