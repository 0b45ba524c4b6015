import type { SessionRow } from "../model/index.ts";

/**
 * Told of every session row after it was written, `null` after it was deleted, so that sessions
 * can be found again without the catalog.
 */
export type SessionMirror = (id: string, row: SessionRow | null) => void;
