import { existsSync, readFileSync } from "node:fs";
import path from "node:path";

/**
 * The record of which CRIU this checkout uses: `.tools/criu.json`.
 *
 * The set-up decides once and writes it; everything else reads it, so the decision has one place.
 * A private CRIU is named relative to `.tools`, so that the checkout may be moved.
 */
export const CRIU_RECORD_NAME = "criu.json";

/** The oldest CRIU that works with the kernels that Waypoint runs on. */
export const CRIU_VERSION_MIN = "4.1";

/** Debian's names for a machine type: multiarch directory and program loader. */
const LOADER_BY_ARCH = {
  x64: { triplet: "x86_64-linux-gnu", loader: "ld-linux-x86-64.so.2" },
  arm64: { triplet: "aarch64-linux-gnu", loader: "ld-linux-aarch64.so.1" },
};

/** Returns the recorded CRIU, or null where there is none or its program has gone. */
export function readCriuRecord(packageRoot) {
  const file = path.join(packageRoot, ".tools", CRIU_RECORD_NAME);
  let record;
  try {
    record = JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return null;
  }
  if (record.origin === "system") return existsSync(record.program) ? record : null;
  const prefix = path.join(packageRoot, ".tools", record.prefix);
  return existsSync(criuPrefixPaths(prefix).program) ? { ...record, prefix } : null;
}

/** Returns where the parts of an unpacked private CRIU lie below `prefix`. */
export function criuPrefixPaths(prefix, arch = process.arch) {
  const { triplet, loader } = LOADER_BY_ARCH[arch] ?? LOADER_BY_ARCH.x64;
  const libraryDir = path.join(prefix, "usr/lib", triplet);
  return {
    libraryDir,
    loader: path.join(libraryDir, loader),
    program: path.join(prefix, "usr/sbin/criu"),
  };
}

/**
 * Returns the words to put before CRIU's own arguments.
 *
 * A private CRIU is started through its own loader: its libraries are newer than the machine's
 * and must not be seen by any other program.
 */
export function criuArgv(record, options = {}) {
  if (record.origin === "system") return [record.program];
  const { libraryDir, loader, program } = criuPrefixPaths(record.prefix);
  const preload = options.preloadPath === undefined ? [] : ["--preload", options.preloadPath];
  return [loader, ...preload, "--library-path", libraryDir, program];
}

/** Tells whether version `a` is at least version `b`, compared number by number. */
export function isVersionAtLeast(a, b) {
  const [left, right] = [a, b].map((text) => text.split(".").map(Number));
  for (let i = 0; i < right.length; i += 1) {
    const difference = (left[i] ?? 0) - right[i];
    if (difference !== 0) return difference > 0;
  }
  return true;
}
