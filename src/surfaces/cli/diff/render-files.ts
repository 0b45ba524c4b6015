import type { Changes, FileChange } from "../../../shared/protocol/index.ts";
import { printable } from "../text/printable.ts";
import { formatCount, formatSize } from "../text/quantities.ts";
import type { Paint } from "../text/style.ts";
import { renderMark } from "./render-mark.ts";

/** Returns one line per file that differs, and one of what is beyond the list. */
export function renderFiles(
  { files, fileTotals }: Changes,
  { paint, isBrief }: { paint: Paint; isBrief: boolean },
): string[] {
  if (files === null || fileTotals === null) return [];
  const lines = files.map((file) => {
    const facts = isBrief ? "" : describeFacts(file);
    return `${renderMark(file.change, paint)} ${nameOf(file)}${facts === "" ? "" : paint("dim", `  ${facts}`)}`;
  });
  const { directories, ...counts } = fileTotals;
  const total = Object.values(counts).reduce((sum, count) => sum + count, directories);
  const listed = files.reduce((sum, file) => sum + weightOf(file), 0);
  if (listed >= total) return lines;
  return [...lines, paint("dim", `… and ${total - listed} more; give a path to see them`)];
}

function weightOf({ totals }: FileChange): number {
  return totals === undefined ? 1 : Object.values(totals).reduce((sum, count) => sum + count, 0);
}

function nameOf({ path, from, type, group, files = 0 }: FileChange): string {
  const slash = type === "directory" && path !== "/" ? "/" : "";
  const name = `${printable(path)}${slash}`;
  if (group !== undefined) {
    return `${name} (${group}: ${formatCount(files)} ${files === 1 ? "file" : "files"})`;
  }
  return from === undefined ? name : `${printable(from)}${slash} → ${name}`;
}

function describeFacts(file: FileChange): string {
  const { what = [], typeBefore, type, modeBefore, modeAfter, ownerBefore, ownerAfter } = file;
  const facts = what.flatMap((aspect) => {
    if (aspect === "content") return [];
    if (aspect === "type") return [`${typeBefore} → ${type}`];
    if (aspect === "mode") return [`mode ${modeBefore} → ${modeAfter}`];
    if (aspect === "owner") return [`owner ${ownerBefore} → ${ownerAfter}`];
    return [aspect];
  });
  return [...describeSize(file), ...facts].join(", ");
}

function describeSize({ type, group, what, sizeBefore, sizeAfter }: FileChange): string[] {
  if (type !== "file" && group === undefined) return type === "directory" ? [] : [type];
  if (sizeBefore === null) return [formatSize(sizeAfter ?? 0)];
  if (sizeAfter === null) return [formatSize(sizeBefore)];
  if (sizeBefore === sizeAfter) return what?.includes("content") ? [formatSize(sizeAfter)] : [];
  return [`${formatSize(sizeBefore)} → ${formatSize(sizeAfter)}`];
}
