import { mkdirSync, rmSync } from "node:fs";

/** Makes the directory where CRIU writes its logs of an instance. */
export function makeWorkDir(workDir: string): void {
  mkdirSync(workDir, { recursive: true, mode: 0o700 });
}

/** Removes it, with what it holds; succeeds when it is gone already. */
export function removeWorkDir(workDir: string): void {
  rmSync(workDir, { recursive: true, force: true });
}
