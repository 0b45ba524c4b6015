import type { ExtraMounts } from "../../model/index.ts";
import type { Row } from "../../sqlite/index.ts";

/** A row as SQLite holds it: lists as JSON. */
export type Stored<T extends ExtraMounts> = Omit<T, keyof ExtraMounts> & {
  [K in keyof ExtraMounts]: string;
};

/** Returns a row for SQLite. */
export function toStored<T extends ExtraMounts>(row: T): Row {
  const { binds, hostMounts, ...plain } = row;
  const lists = { binds: JSON.stringify(binds), hostMounts: JSON.stringify(hostMounts) };
  return { ...(plain as Row), ...lists };
}

/** Returns a row as the engine sees it; `stored` is not to be used any more. */
export function fromStored<T extends ExtraMounts>(stored: Stored<T>): T {
  // Not copied: a long timeline reads thousands of rows with dozens of columns each.
  return Object.assign(stored, {
    binds: listOf(stored.binds),
    hostMounts: listOf(stored.hostMounts),
  }) as unknown as T;
}

function listOf(json: string): unknown[] {
  return json === "[]" ? [] : JSON.parse(json);
}

/** As {@link fromStored}; nothing of nothing. */
export function fromStoredIfAny<T extends ExtraMounts>(stored?: Stored<T>): T | undefined {
  return stored === undefined ? undefined : fromStored(stored);
}
