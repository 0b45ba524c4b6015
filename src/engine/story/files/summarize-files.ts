import type { Changes } from "../../../shared/protocol/index.ts";

/** Groups that the summary names. */
const GROUPS_NAMED_MAX = 2;

/** Returns files in brief: "+3 ~12 −1 files, 2 renamed, node_modules 1,204". */
export function summarizeFiles({ files, fileTotals }: Changes): string | null {
  if (files === null || fileTotals === null) return null;
  const groups = files.filter(({ group }) => group !== undefined);
  const left = { ...fileTotals };
  for (const { totals } of groups) {
    for (const key of Object.keys(left) as (keyof typeof left)[]) left[key] -= totals?.[key] ?? 0;
  }
  const signs = [
    ...(left.added > 0 ? [`+${count(left.added)}`] : []),
    ...(left.modified > 0 ? [`~${count(left.modified)}`] : []),
    ...(left.deleted > 0 ? [`−${count(left.deleted)}`] : []),
  ];
  const changed = left.added + left.modified + left.deleted;
  const parts = [
    ...(signs.length > 0 ? [`${signs.join(" ")} ${changed === 1 ? "file" : "files"}`] : []),
    ...(left.renamed > 0 ? [`${count(left.renamed)} renamed`] : []),
    ...(changed + left.renamed === 0 && left.directories > 0
      ? [`${count(left.directories)} ${left.directories === 1 ? "directory" : "directories"}`]
      : []),
    ...nameGroups(groups),
  ];
  return parts.length === 0 ? null : parts.join(", ");
}

function nameGroups(groups: readonly { group?: string | undefined; files?: number | undefined }[]) {
  const byName = new Map<string, number>();
  for (const { group = "", files = 0 } of groups) {
    byName.set(group, (byName.get(group) ?? 0) + files);
  }
  const named = [...byName].filter(([, files]) => files > 0).sort(([, a], [, b]) => b - a);
  const others = named.slice(GROUPS_NAMED_MAX).reduce((sum, [, files]) => sum + files, 0);
  return [
    ...named.slice(0, GROUPS_NAMED_MAX).map(([name, files]) => `${name} ${count(files)}`),
    ...(others > 0 ? [`other noise ${count(others)}`] : []),
  ];
}

function count(value: number): string {
  return value.toLocaleString("en");
}
