import type { RawPath } from "../../../base/index.ts";

/** Returns a path of git's own files below its directory, or `null` of any other path. */
export function gitOwnPath(rawPath: RawPath): RawPath | null {
  return /(?:^|\/)\.git\/(.+)$/s.exec(rawPath)?.[1] ?? null;
}
