import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, statSync } from "node:fs";
import path from "node:path";
import { isSystemError } from "../../base/index.ts";
import { explainDiskError } from "../kernel/index.ts";
import {
  createSnapshot,
  createSubvolume,
  deleteSubvolume,
  isSubvolume,
  setReadOnly,
} from "./btrfs-ioctl.ts";
import {
  completeSnapshot,
  copyTree,
  shareTree,
  type TreeCopy,
  treeBytes,
  unpackTar,
} from "./fill-tree.ts";
import { readSoundJsonNow, writeIndentedJsonNow } from "./json-file.ts";

const ADDING = ".adding-";
const REMOVING = ".removing-";
const WHAT = "keep a base";

/**
 * The root filesystems that the store keeps for sessions to stand on: read-only subvolumes, each with a
 * record beside it. What is half-made or half-removed has a name that begins with a dot.
 */
export class KeptBases {
  readonly #directory: string;
  readonly #shareProgramPath: string;
  readonly #holders = new Map<string, number>();

  constructor(storeDir: string, shareProgramPath: string) {
    this.#shareProgramPath = shareProgramPath;
    this.#directory = path.join(storeDir, "bases");
  }

  /** Returns where the root of a base lies, or would. */
  rootOf(name: string): string {
    return path.join(this.#directory, name, "root");
  }

  /** Returns the directory of what a session stands on: a kept base by its name, or a path itself. */
  directoryOf(base: string): string {
    return base.includes("/") ? base : this.rootOf(base);
  }

  has(name: string): boolean {
    return existsSync(this.rootOf(name));
  }

  /** Returns what was noted of each base, by name. */
  all(): { name: string; record: unknown }[] {
    return this.#names()
      .filter((name) => !name.startsWith("."))
      .map((name) => ({ name, record: this.recordOf(name) }));
  }

  /** Returns what was noted of a base; `null` where that is lost. */
  recordOf(name: string): unknown {
    return readSoundJsonNow(this.#recordPath(name));
  }

  /** Tells what a base can be made of there is at a path; `null` where there is nothing. */
  kindOf(from: string): "tree" | "archive" | "other" | null {
    const found = statSync(from, { throwIfNoEntry: false });
    if (found === undefined) return null;
    if (found.isDirectory()) return "tree";
    return found.isFile() ? "archive" : "other";
  }

  /**
   * Makes a base of what `fill` puts into an empty directory; it returns what is noted of it.
   *
   * **On failure** nothing of it is left, or what {@link sweep} removes.
   *
   * @throws STORE_FULL
   */
  async add(name: string, fill: (rootDir: string) => Promise<object>): Promise<void> {
    const unfinished = `${ADDING}${name}`;
    this.#remove(unfinished);
    const rootDir = this.rootOf(unfinished);
    try {
      mkdirSync(path.dirname(rootDir), { recursive: true, mode: 0o700 });
      createSubvolume(rootDir);
      const record = await fill(rootDir);
      setReadOnly(rootDir);
      writeIndentedJsonNow(this.#recordPath(unfinished), record, WHAT);
      renameSync(path.join(this.#directory, unfinished), path.join(this.#directory, name));
    } catch (error) {
      this.#remove(unfinished);
      throw explainDiskError(error, WHAT);
    }
  }

  /**
   * Copies a tree into the root of a base that is being added, or makes that a snapshot of it where
   * the store's btrfs has it as a subvolume.
   *
   * @throws TOOL_FAILED
   */
  async copy(tree: TreeCopy, rootDir: string, signal: AbortSignal): Promise<void> {
    if (becomeSnapshot(rootDir, tree.sourceDir)) await completeSnapshot(tree, rootDir, signal);
    else await copyTree(tree, rootDir, signal);
  }

  /** Unpacks an archive into the root of a base that is being added. @throws TOOL_FAILED */
  async unpack(tarPath: string, rootDir: string, signal: AbortSignal): Promise<void> {
    await unpackTar(tarPath, rootDir, signal);
  }

  /** Shares what a base that is being added has in common with the others. @throws TOOL_FAILED */
  async share(rootDir: string, signal: AbortSignal): Promise<void> {
    const programPath = this.#shareProgramPath;
    for (const { name } of this.all()) {
      const places = { programPath, targetDir: rootDir, likeDir: this.rootOf(name) };
      await shareTree(places, signal);
    }
  }

  /** Returns the space that a base's files take, in bytes. @throws TOOL_FAILED */
  async bytesOf(rootDir: string, signal: AbortSignal): Promise<number> {
    return await treeBytes(rootDir, signal);
  }

  /** Returns the base that sessions stand on for which none is given; `null` where none is chosen. */
  defaultName(): string | null {
    const known = readSoundJsonNow(this.#defaultPath()) as { name?: unknown } | null;
    const name = known?.name;
    return typeof name === "string" && this.has(name) ? name : null;
  }

  /** @throws STORE_FULL */
  setDefault(name: string | null): void {
    mkdirSync(this.#directory, { recursive: true, mode: 0o700 });
    writeIndentedJsonNow(this.#defaultPath(), { name }, "choose a base");
  }

  /** Keeps a base from being removed until this is disposed of. */
  hold(name: string): Disposable {
    this.#holders.set(name, this.#holdersOf(name) + 1);
    return { [Symbol.dispose]: () => this.#holders.set(name, this.#holdersOf(name) - 1) };
  }

  isHeld(name: string): boolean {
    return this.#holdersOf(name) > 0;
  }

  /** Removes a base that nothing stands on. */
  remove(name: string): void {
    const removed = `${REMOVING}${name}`;
    this.#remove(removed);
    renameSync(path.join(this.#directory, name), path.join(this.#directory, removed));
    this.#remove(removed);
  }

  /** Removes what a daemon that ended in between has left of an addition or a removal. */
  sweep(): void {
    for (const name of this.#names()) if (name.startsWith(".")) this.#remove(name);
  }

  #names(): string[] {
    if (!existsSync(this.#directory)) return [];
    return readdirSync(this.#directory, { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => name)
      .toSorted();
  }

  #remove(name: string): void {
    const rootDir = this.rootOf(name);
    if (existsSync(rootDir)) deleteSubvolume(rootDir);
    rmSync(path.join(this.#directory, name), { recursive: true, force: true });
  }

  #holdersOf(name: string): number {
    return this.#holders.get(name) ?? 0;
  }

  #defaultPath(): string {
    return path.join(this.#directory, "default.json");
  }

  #recordPath(name: string): string {
    return path.join(this.#directory, name, "base.json");
  }
}

/** Replaces an empty subvolume by a snapshot; tells whether that could be done. */
function becomeSnapshot(rootDir: string, sourceDir: string): boolean {
  if (!isSubvolume(sourceDir)) return false;
  const aside = `${rootDir}.snapshot`;
  try {
    createSnapshot(sourceDir, aside, { readOnly: false });
  } catch (error) {
    // Another btrfs, or another filesystem that numbers its root the same.
    if (isSystemError(error, "EXDEV", "EINVAL", "ENOTTY", "EPERM")) return false;
    throw error;
  }
  deleteSubvolume(rootDir);
  renameSync(aside, rootDir);
  return true;
}
