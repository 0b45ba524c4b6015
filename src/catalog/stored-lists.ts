import type { ExtraMounts } from "./rows.ts";
import type { Row } from "./sqlite-file.ts";

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

/** Returns a row as the engine sees it. */
export function fromStored<T extends ExtraMounts>(stored: Stored<T>): T {
  const { binds, hostMounts, ...plain } = stored;
  const lists = { binds: JSON.parse(binds), hostMounts: JSON.parse(hostMounts) };
  return { ...plain, ...lists } as unknown as T;
}

/** As {@link fromStored}; nothing of nothing. */
export function fromStoredIfAny<T extends ExtraMounts>(stored?: Stored<T>): T | undefined {
  return stored === undefined ? undefined : fromStored(stored);
}
