const NO_COMMIT = /^0+$/;
const LINE =
  /^(?:[0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) [^\t\n]*> (\d{1,12}) [-+]\d{4}(?:\t([^\n]*)|$)/gm;
/** "commit: …", "commit (initial): …", "commit (amend): …": each makes an object. */
const MAKES_COMMIT = /^commit\b/;

/** What a reference came to stand at. */
export interface ReflogEntry {
  /** The commit, or zeros. */
  id: string;
  /** Whether the commit was made then, and not only gone to. */
  isNew: boolean;
}

/**
 * Returns the commit that a reference stood at, by what its log says was done before a time.
 *
 * An entry that seems older than one before it counts as young as that: it was written later.
 *
 * @returns `null` where the log does not reach so far back, or the reference stood at nothing.
 */
export function commitBefore(reflog: Buffer, seconds: number): string | null {
  let found: string | null = null;
  let newest = 0;
  for (const [, id = "", at = ""] of reflog.toString("latin1").matchAll(LINE)) {
    newest = Math.max(newest, Number(at));
    if (newest >= seconds) break;
    found = NO_COMMIT.test(id) ? null : id;
  }
  return found;
}

/** Returns what a log says of one second, whose order within it is all that it tells; newest first. */
export function entriesIn(reflog: Buffer, seconds: number): ReflogEntry[] {
  const found: ReflogEntry[] = [];
  let newest = 0;
  for (const [, id = "", at = "", action = ""] of reflog.toString("latin1").matchAll(LINE)) {
    newest = Math.max(newest, Number(at));
    if (newest > seconds) break;
    if (newest === seconds) found.unshift({ id, isNew: MAKES_COMMIT.test(action) });
  }
  return found;
}
