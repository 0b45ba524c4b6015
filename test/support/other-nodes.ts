import { createHash } from "node:crypto";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { isSystemError, runProcess } from "../../src/base/index.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const PINNED_DIR = path.join(ROOT, "test/nodes");
const INSTALL_TIMEOUT_MS = 300_000;

/** How the set-up calls npm: so that nothing of an outer `npm test` is in the way. */
interface SetupNpm {
  npmArgv: () => [string, ...string[]];
  npmEnvironment: () => NodeJS.ProcessEnv;
}

/** Nodes that programs may embed the SDK in, besides the one that the tests run on. */
export type OtherNode = 20 | 22;

/**
 * Returns the program of a Node that test/nodes/package-lock.json pins, and brings all of them at
 * first use. They are no dependencies of the project: each brings a program `node`, which would stand
 * in the way of the project's own in every script of npm.
 */
export async function otherNode(major: OtherNode): Promise<string> {
  const lock = readFileSync(path.join(PINNED_DIR, "package-lock.json"));
  const digest = createHash("sha256").update(lock).digest("hex").slice(0, 12);
  const installed = path.join(ROOT, ".tools", `test-nodes-${digest}`);
  if (!existsSync(installed)) await install(installed);
  return path.join(installed, `node_modules/node-${major}-${process.arch}/bin/node`);
}

/** What is killed half-way leaves nothing that counts as installed. */
async function install(installed: string): Promise<void> {
  const parent = path.join(ROOT, ".tools/tmp");
  mkdirSync(parent, { recursive: true });
  const draft = mkdtempSync(path.join(parent, "nodes-"));
  try {
    cpSync(PINNED_DIR, draft, { recursive: true });
    const npm = (await import(path.join(ROOT, "scripts/setup/npm.mjs"))) as SetupNpm;
    await runProcess([...npm.npmArgv(), "ci", "--include=optional", "--ignore-scripts"], {
      ...{ cwd: draft, env: npm.npmEnvironment(), timeoutMs: INSTALL_TIMEOUT_MS },
    });
    renameSync(draft, installed);
  } catch (error) {
    // Another test file was quicker.
    if (!isSystemError(error, "ENOTEMPTY", "EEXIST")) throw error;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}
