import { execFile } from "node:child_process";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { promisify } from "node:util";
import { podmanCommit } from "../contenders/podman.ts";
import { reflinkCopy } from "../contenders/reflink-copy.ts";
import { shadowGit } from "../contenders/shadow-git.ts";
import { waypointSave } from "../contenders/waypoint-save.ts";
import type { Contender } from "../measuring/contender.ts";
import { NotMeasured } from "../measuring/not-measured.ts";
import { findPeer } from "../peers/peers-dir.ts";
import { BtrfsTree } from "../worlds/btrfs-tree.ts";
import { PodmanWorld } from "../worlds/podman-world.ts";
import { initOf, PLAIN_SHELL, WaypointWorld } from "../worlds/waypoint-world.ts";
import { unlessMissing, type WorkloadContext } from "./workload.ts";

const run = promisify(execFile);
const WRITE_FILES = path.resolve(import.meta.dirname, "../programs/write-files.mjs");
const TREE = "srv/tree";
const CONTAINER = "bench";

/** A tree of files, of which some are changed before each save. */
export interface SavedTree {
  fileCount: number;
  changedCount: number;
}

/** Saves a tree and goes back: with Waypoint, and with what copies files alone. */
export async function compareSaves(
  tree: SavedTree,
  context: WorkloadContext,
): Promise<Contender[]> {
  return [
    await sessionSave("waypoint", tree, context),
    ...(await unlessMissing("cp --reflink", context, () => withCopy(tree, context))),
    ...(await unlessMissing("shadow git", context, () => withGit(tree, context))),
    ...(await unlessMissing("podman commit", context, () => withPodman(tree, context))),
  ];
}

/** A session with the tree, whose checkpoints take its shell along. */
export async function sessionSave(
  name: string,
  tree: SavedTree,
  context: WorkloadContext,
): Promise<Contender> {
  const world = context.stack.use(await WaypointWorld.open());
  const session = await world.waypoint.new({ name: "files", ...PLAIN_SHELL });
  const write = [process.execPath, WRITE_FILES, `/${TREE}`, String(tree.fileCount)];
  const { exitCode, stderr } = await session.exec(write, { shell: "own" });
  if (exitCode !== 0) throw new Error(stderr);
  await session.checkpoint({ durable: true });
  return waypointSave(name, session, async () => {
    changeFiles(path.join(`/proc/${await initOf(session)}/root`, TREE), tree);
  });
}

async function withCopy(tree: SavedTree, context: WorkloadContext): Promise<Contender[]> {
  const world = context.stack.use(await BtrfsTree.open());
  const place = path.join(world.directory, "tree");
  await writeTree(place, tree);
  return [reflinkCopy(world, () => changeFiles(place, tree))];
}

async function withGit(tree: SavedTree, context: WorkloadContext): Promise<Contender[]> {
  if (findPeer("git") === undefined) throw new NotMeasured("git is not installed");
  const world = context.stack.use(await BtrfsTree.open());
  const place = path.join(world.directory, "tree");
  await writeTree(place, tree);
  return [await shadowGit(world, () => changeFiles(place, tree))];
}

/** An image with the tree and one static program, the least that a container can be. */
async function withPodman(tree: SavedTree, context: WorkloadContext): Promise<Contender[]> {
  const world = context.stack.use(await PodmanWorld.open());
  const root = path.join(world.directory, "root");
  await writeTree(path.join(root, TREE), tree);
  writeFileSync(path.join(root, "ticker"), context.ticker, { mode: 0o755 });
  const archive = path.join(world.directory, "root.tar");
  await run("tar", ["-C", root, "-cf", archive, "."]);
  await world.podman(["import", "--quiet", archive, "localhost/bench"]);
  rmSync(archive);
  await world.start(CONTAINER, ["localhost/bench"], ["/ticker", "/gaps"]);
  const place = path.join(`/proc/${await world.initOf(CONTAINER)}/root`, TREE);
  return [podmanCommit(world, CONTAINER, () => changeFiles(place, tree))];
}

async function writeTree(place: string, { fileCount }: SavedTree): Promise<void> {
  mkdirSync(place, { recursive: true });
  await run(process.execPath, [WRITE_FILES, place, String(fileCount)]);
}

let changes = 0;

/** Gives `changedCount` files a content that they did not have before. */
function changeFiles(place: string, { fileCount, changedCount }: SavedTree): void {
  changes += 1;
  const step = Math.floor(fileCount / changedCount);
  for (let index = 0; index < fileCount; index += step) {
    const file = path.join(place, String(Math.floor(index / 100)), `${index}.txt`);
    writeFileSync(file, `change ${changes}\n`.repeat(80));
  }
}
