import path from "node:path";

/** What native/build.sh makes: PID 1, CRIU's actions, images copied and served, mounts, a preload. */
const NATIVE_NAMES = [
  "waypoint-init",
  "snapshot-hook",
  "resume-hook",
  "park-hook",
  "image-copy",
  "waypoint-pages",
  "attach-mount",
  "rlimit-preload.so",
] as const;

/** Returns where the set-up puts a native program. */
export function nativePath(packageRoot: string, name: (typeof NATIVE_NAMES)[number]): string {
  return path.join(packageRoot, ".tools/native", name);
}

/** Returns where the set-up puts each of the native programs. */
export function nativePaths(packageRoot: string): string[] {
  return NATIVE_NAMES.map((name) => nativePath(packageRoot, name));
}
