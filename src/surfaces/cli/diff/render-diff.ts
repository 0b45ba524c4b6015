import type { Changes, ChangesSection } from "../../../shared/protocol/index.ts";
import { printable } from "../text/printable.ts";
import { type Paint, plain } from "../text/style.ts";
import { renderFiles } from "./render-files.ts";
import { renderGit } from "./render-git.ts";
import { renderPackages } from "./render-packages.ts";
import { renderPatch } from "./render-patch.ts";
import { renderProcesses } from "./render-processes.ts";
import { renderFunctionTexts, renderShell } from "./render-shell.ts";

/** What is told of paths, and so also where one was asked for. */
const LIES_AT_PATHS = /^(?:files|packages|git)\b/;

/** How much of a difference is shown. */
export interface DiffStyle {
  style: "names" | "stat" | "patches";
  /** A path was asked for, so that nobody misses what lies at none. */
  isBelowPath: boolean;
  /** The sections that were asked for, if not all. */
  sections?: readonly ChangesSection[] | undefined;
  paint: Paint;
}

/** Returns what differs, section by section; nothing at all where nothing differs. */
export function renderDiff(changes: Changes, diffStyle: DiffStyle): string[] {
  const { style, paint } = diffStyle;
  const files = changes.files ?? [];
  const options = { paint, isBrief: style === "names" };
  const listed = [...renderFiles(changes, options), ...renderOthers(changes, options)];
  if (style === "names") return listed;
  const texts = [
    ...files.flatMap((file) => renderPatch(file, paint)),
    ...renderFunctionTexts(changes, paint),
  ];
  return [
    ...listed,
    ...(style === "patches" ? texts : []),
    ...renderUnknown(changes.unknown, diffStyle),
  ];
}

/**
 * Tells whether anything differs, or may: of files that are unknown nobody can say, and neither of
 * another section that was asked for by its name.
 */
export function isDifferent(changes: Changes, sections?: readonly ChangesSection[]): boolean {
  const { summary, files } = changes;
  const options = { paint: plain, isBrief: true };
  const others = renderOthers(changes, options);
  const listed = (files?.length ?? 0) + others.length;
  const asked = sections ?? (["files"] as const);
  return summary !== "" || listed > 0 || asked.some((section) => changes[section] === null);
}

/** Returns what differs beside files. */
export function renderOthers(
  changes: Changes,
  options: { paint: Paint; isBrief: boolean },
): string[] {
  return [
    ...renderPackages(changes, options),
    ...renderProcesses(changes, options),
    ...renderShell(changes, options),
    ...renderGit(changes, options),
  ];
}

/** Returns what is unknown and why; sections with one reason share a line. */
export function renderUnknown(
  unknown: Changes["unknown"],
  {
    isBelowPath,
    sections,
    paint,
  }: { isBelowPath: boolean; sections?: readonly string[] | undefined; paint: Paint },
): string[] {
  const isAsked = (part: string) => sections?.some((section) => part.startsWith(section)) ?? true;
  const byReason = new Map<string, string[]>();
  for (const [section, reason] of Object.entries(unknown)) {
    if (!isAsked(section) || (isBelowPath && !LIES_AT_PATHS.test(section))) continue;
    byReason.set(reason, [...(byReason.get(reason) ?? []), section]);
  }
  return [...byReason].map(([reason, sections]) =>
    paint("dim", `Unknown: ${sections.join(", ")} (${printable(reason)})`),
  );
}
