import type { Bind } from "../../shared/protocol/index.ts";
import { printable } from "./text/printable.ts";

/** Returns one line per bind, which says that no checkpoint holds what is there. */
export function renderBinds(binds: readonly Bind[], prefix = ""): string[] {
  return binds.map(({ source, target, readOnly }) => {
    const how = readOnly ? "read-only, not captured" : "not captured";
    return `${prefix}${printable(target)} is ${printable(source)} of the host (${how})`;
  });
}

/** Returns one line per bind that a restore or a fork went on without. */
export function renderLeftOut(binds: readonly Bind[]): string[] {
  return binds.map(
    ({ source, target }) =>
      `${printable(target)} is empty: ${printable(source)} is gone from the host`,
  );
}
