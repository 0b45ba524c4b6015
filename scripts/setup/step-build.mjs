import { createHash } from "node:crypto";
import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import path from "node:path";
// C is built on each machine, also from a published package.
import { NATIVE_NAMES } from "./native-names.mjs";
import { npmArgv, npmEnvironment } from "./npm.mjs";
import { runTool } from "./run-tool.mjs";

/** What the build reads. */
const SOURCES = [
  "src",
  "native",
  "web",
  "scripts/setup",
  "package.json",
  "package-lock.json",
  "tsconfig.json",
  "tsdown.config.ts",
];

const STAMP_NAME = "build.json";

/**
 * Builds dist/ and the native programs when the sources differ from those they were built of;
 * compared by content.
 */
export const buildStep = {
  id: "build",
  title: "build",

  check({ packageRoot, tools, isPackaged }) {
    if (!NATIVE_NAMES.every((name) => existsSync(tools.at("native", name)))) return null;
    if (isPackaged) return "native programs; the rest came with the package";
    if (!existsSync(path.join(packageRoot, "dist/cli.cjs"))) return null;
    return tools.readJson(STAMP_NAME)?.sourcesDigest === digestSources(packageRoot)
      ? "up to date"
      : null;
  },

  async run({ packageRoot, tools, signal, isPackaged }) {
    removeDrafts(tools);
    if (isPackaged) {
      await runTool(["sh", path.join(packageRoot, "native/build.sh")], { signal });
      return "built the native programs";
    }
    // Read before the build: what changes meanwhile makes the next set-up build again.
    const sourcesDigest = digestSources(packageRoot);
    rmSync(tools.at(STAMP_NAME), { force: true });
    await runTool([...npmArgv(), "run", "build"], {
      cwd: packageRoot,
      env: npmEnvironment({ nodeBinDir: tools.at("node/bin") }),
      signal,
      hint: "Run `npm run build` to see the whole output.",
    });
    tools.writeJson(STAMP_NAME, { sourcesDigest });
    return "built";
  },
};

/** Removes the work directories of a compilation that was killed. */
function removeDrafts(tools) {
  const nativeDir = tools.at("native");
  const names = existsSync(nativeDir) ? readdirSync(nativeDir) : [];
  for (const name of names.filter((text) => text.startsWith(".build-"))) {
    rmSync(path.join(nativeDir, name), { recursive: true, force: true });
  }
}

function digestSources(packageRoot) {
  const hash = createHash("sha256");
  for (const file of SOURCES.flatMap((name) => listFiles(packageRoot, name))) {
    hash
      .update(`${file}\0`)
      .update(readFileSync(path.join(packageRoot, file)))
      .update("\0");
  }
  return hash.digest("hex");
}

function listFiles(packageRoot, name) {
  const full = path.join(packageRoot, name);
  if (!existsSync(full)) return [];
  const entries = readEntries(full);
  if (entries === null) return [name];
  return entries
    .filter((entry) => entry !== "node_modules" && entry !== "dist")
    .sort()
    .flatMap((entry) => listFiles(packageRoot, path.join(name, entry)));
}

function readEntries(dir) {
  try {
    return readdirSync(dir);
  } catch (error) {
    if (error.code === "ENOTDIR") return null;
    throw error;
  }
}
