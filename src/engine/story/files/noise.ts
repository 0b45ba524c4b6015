import { isAtOrBelow, type RawPath } from "../../../base/index.ts";

/** Files that programs keep for themselves: whoever reads a story wants their number. */
export interface NoiseGroup {
  name: string;
  /** Directory that the group is about. */
  path: RawPath;
}

/** Names of directories that are noise wherever they are, with what their group is called. */
const NOISE_NAMES: ReadonlyMap<string, string> = new Map([
  ["node_modules", "node_modules"],
  [".git", "git"],
  ["__pycache__", "python cache"],
  [".pytest_cache", "python cache"],
  [".mypy_cache", "python cache"],
  [".ruff_cache", "python cache"],
  [".cache", "cache"],
  [".npm", "npm cache"],
  [".gradle", "gradle cache"],
  [".tox", "python cache"],
  [".nox", "python cache"],
  [".next", "build cache"],
  [".nuxt", "build cache"],
  [".turbo", "build cache"],
  [".parcel-cache", "build cache"],
  [".idea", "editor files"],
]);

/** Directories of the system. */
const NOISE_PATHS: readonly NoiseGroup[] = [
  { name: "apt lists", path: "/var/lib/apt/lists" },
  { name: "cache", path: "/var/cache" },
];

/** Returns the outermost group that a path belongs to, or `null`. */
export function findNoise(rawPath: RawPath): NoiseGroup | null {
  const fixed = NOISE_PATHS.find(({ path }) => isAtOrBelow(rawPath, path));
  if (fixed !== undefined) return fixed;
  for (let end = nextSlash(rawPath, 1), start = 1; start < rawPath.length; ) {
    const name = NOISE_NAMES.get(rawPath.slice(start, end));
    if (name !== undefined) return { name, path: rawPath.slice(0, end) };
    start = end + 1;
    end = nextSlash(rawPath, start);
  }
  return null;
}

function nextSlash(rawPath: RawPath, from: number): number {
  const slash = rawPath.indexOf("/", from);
  return slash === -1 ? rawPath.length : slash;
}
