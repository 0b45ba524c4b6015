import { readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";

/** Writes what is known of a session, atomically for readers; `null` removes it. */
export function writeSessionFile(
  sessionsDir: string,
  sessionId: string,
  session: object | null,
): void {
  const filePath = path.join(sessionsDir, `${sessionId}.json`);
  if (session === null) {
    rmSync(filePath, { force: true });
    return;
  }
  const unfinishedPath = `${filePath}.new`;
  writeFileSync(unfinishedPath, `${JSON.stringify(session, null, 2)}\n`, { mode: 0o600 });
  renameSync(unfinishedPath, filePath);
}

/** Returns what was written of every session. */
export function readSessionFiles(sessionsDir: string): unknown[] {
  return readdirSync(sessionsDir)
    .filter((name) => name.endsWith(".json"))
    .map((name) => JSON.parse(readFileSync(path.join(sessionsDir, name), "utf8")));
}
