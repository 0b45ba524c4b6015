import type { OperationRow } from "../model/index.ts";

/** An operation that has no number yet. */
export type NewOperation = Omit<OperationRow, "id" | "detail"> & {
  detail?: OperationRow["detail"];
};

/** What happened to sessions, in the catalog, with what is needed to take it back. */
export interface OperationLog {
  /** Returns all operations, or those of a session, oldest first. */
  all(session?: string): OperationRow[];

  get(id: number): OperationRow | undefined;

  /** Returns a session's last operation of those that are taken back, whether it has kept what that takes or not. */
  lastMove(session: string): OperationRow | undefined;

  /** Returns the operations that were begun and are not done; after a start nobody does them. */
  begun(): OperationRow[];

  /** Notes an operation and returns its number. */
  insert(row: NewOperation): number;

  update(id: number, row: Pick<OperationRow, "detail" | "readyMs">): void;

  /** Notes which files an operation is about to change: paths with one character for each byte. */
  putPaths(operation: number, paths: readonly string[]): void;

  paths(operation: number): string[];

  deleteOf(session: string): void;
}
