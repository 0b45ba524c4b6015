import { spawnSync } from "node:child_process";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  readlinkSync,
  realpathSync,
  symlinkSync,
} from "node:fs";
import path from "node:path";
import { npmArgv, npmEnvironment } from "./npm.mjs";
import { runTool } from "./run-tool.mjs";
import { SetupError } from "./setup-error.mjs";

/** The oldest major version of Node that runs Waypoint. */
const NODE_MAJOR_MIN = 24;

const PACKAGE_NAME = `node-linux-${process.arch}`;

/**
 * Provides `.tools/node/bin/node`, the Node that runs Waypoint.
 *
 * `.tools/node` is a symbolic link: to a directory that stands for the machine's own Node where
 * that is new enough, else to the one that toolchain/package-lock.json pins.
 */
export const nodeStep = {
  id: "node",
  title: "Node",

  check({ packageRoot, tools }) {
    const program = tools.at("node/bin/node");
    if (!existsSync(program)) return null;
    const target = path.basename(readlinkSync(tools.at("node")));
    if (target === `node-${pinnedVersion(packageRoot)}`)
      return `${pinnedVersion(packageRoot)}, private`;
    const version = versionOf(realpathSync(program));
    return target === "node-machine" && isNewEnough(version) ? `${version}, the machine's` : null;
  },

  async run(context) {
    const { packageRoot, tools } = context;
    const own = machineNode(tools);
    if (own !== null) return useMachineNode(tools, own);
    const version = pinnedVersion(packageRoot);
    const name = `node-${version}`;
    if (!existsSync(tools.at(name))) await installNode(context, name);
    tools.link(name, "node");
    return `${version}, private`;
  },
};

/** Returns the Node with which to run Waypoint's programs once the set-up is complete. */
export function nodeProgram({ tools }) {
  return process.env.WAYPOINT_NODE || tools.at("node/bin/node");
}

function machineNode(tools) {
  const program = realpathSync(process.execPath);
  const isPrivate = program.startsWith(tools.path + path.sep);
  return !isPrivate && isNewEnough(process.versions.node) ? program : null;
}

function useMachineNode(tools, program) {
  const draft = tools.makeTmpDir("node");
  mkdirSync(path.join(draft, "bin"));
  symlinkSync(program, path.join(draft, "bin/node"));
  tools.install(draft, "node-machine");
  tools.link("node-machine", "node");
  return `${process.versions.node}, the machine's`;
}

async function installNode({ packageRoot, tools, signal }, name) {
  const draft = tools.makeTmpDir("node");
  for (const file of ["package.json", "package-lock.json"]) {
    copyFileSync(path.join(packageRoot, "toolchain", file), path.join(draft, file));
  }
  await runTool([...npmArgv(), "ci", "--include=optional", "--ignore-scripts"], {
    cwd: draft,
    env: npmEnvironment(),
    signal,
    hint: "Check that `npm ping` reaches your registry, or install Node 24 and set WAYPOINT_NODE.",
  });
  symlinkSync(path.join("node_modules", PACKAGE_NAME, "bin"), path.join(draft, "bin"));
  if (versionOf(path.join(draft, "bin/node")) === null) {
    throw new SetupError("SETUP_FAILED", `The Node of ${PACKAGE_NAME} does not run here.`, {
      hint: "Install Node 24 and run the set-up with it.",
    });
  }
  tools.install(draft, name);
}

function pinnedVersion(packageRoot) {
  const lock = JSON.parse(
    readFileSync(path.join(packageRoot, "toolchain/package-lock.json"), "utf8"),
  );
  return lock.packages[`node_modules/${PACKAGE_NAME}`].version;
}

function versionOf(program) {
  if (program === realpathSync(process.execPath)) return process.versions.node;
  const { status, stdout } = spawnSync(program, ["--version"], { encoding: "utf8" });
  return status === 0 ? stdout.trim().replace(/^v/, "") : null;
}

function isNewEnough(version) {
  return version !== null && Number.parseInt(version, 10) >= NODE_MAJOR_MIN;
}
