import type { KeptBase } from "../../../shared/protocol/index.ts";
import { call, type Invocation, printResult } from "../context.ts";
import { printable } from "../text/printable.ts";
import { formatAge, formatSize } from "../text/quantities.ts";
import { type Column, layoutTable } from "../text/table.ts";

const COLUMNS: readonly Column[] = [
  { title: "BASE" },
  { title: "SIZE", align: "right" },
  { title: "KEPT" },
  { title: "SESSIONS", align: "right" },
  { title: "CHECKPOINTS", align: "right" },
  { title: "FROM" },
];

/** Lists the bases that the store keeps. */
export async function run({ context }: Invocation): Promise<undefined> {
  const result = await call(context, "base.ls", {});
  await printResult(context, result, ({ bases }) => renderBases(bases, context.nowMs));
}

export function renderBases(bases: readonly KeptBase[], nowMs: number): string[] {
  if (bases.length === 0) {
    return ["No base is kept: sessions stand on the host's own root as it is now."];
  }
  return layoutTable(
    COLUMNS,
    bases.map((base) => [
      `${printable(base.name)}${base.isDefault ? " (default)" : ""}`,
      base.sizeBytes === null ? "?" : formatSize(base.sizeBytes),
      base.createdAt === null ? "?" : `${formatAge(base.createdAt, nowMs)} ago`,
      String(base.sessions),
      String(base.checkpoints),
      base.from === null ? "?" : printable(base.from),
    ]),
  );
}
