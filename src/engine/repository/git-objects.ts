import { inflateSync } from "node:zlib";
import { joinRaw, type RawPath } from "../../base/index.ts";
import { type GitObject, GitPack, ReadRoom } from "../../formats/git/index.ts";
import { type MomentFiles, openEntry, type TreeEntry } from "../moment/index.ts";

/** Larger objects are not read: commits are small. */
const OBJECT_BYTES_MAX = 4 * 1024 * 1024;
const ALTERNATES_BYTES_MAX = 64 * 1024;
/** Directories of objects, borrowed ones with them. */
const DIRECTORIES_MAX = 10;
/** Each takes two descriptors; git itself joins them when there are more than 50. */
const PACKS_MAX = 128;
/** One that needs others by id, which need others again. */
const DEPTH_MAX = 50;

/** The objects of a repository, loose and in packs, and those that it borrows. */
export class GitObjects implements AsyncDisposable {
  readonly #files: MomentFiles;
  readonly #directories: Promise<RawPath[]>;
  #packs: Promise<GitPack[]> | undefined;

  constructor(files: MomentFiles, commonDir: RawPath) {
    this.#files = files;
    this.#directories = this.#findDirectories(joinRaw(commonDir, "objects"));
    this.#directories.catch(() => {}); // whoever reads an object is told
  }

  async [Symbol.asyncDispose](): Promise<void> {
    const packs = await this.#packs?.catch(() => []);
    for (const pack of packs ?? []) await pack[Symbol.asyncDispose]();
  }

  async has(id: string): Promise<boolean> {
    if ((await this.#findLoose(id)) !== null) return true;
    for (const pack of await this.#openPacks(id.length / 2)) {
      if ((await pack.find(Buffer.from(id, "hex"))) !== null) return true;
    }
    return false;
  }

  /** Returns the file of an object that has one of its own. */
  async looseFile(id: string): Promise<TreeEntry | null> {
    const loosePath = await this.#findLoose(id);
    return loosePath === null ? null : this.#files.find(loosePath);
  }

  /** Returns an object, or `null` where it is not there. @throws Error  it is damaged. */
  read(id: string): Promise<GitObject | null> {
    return this.#readWithin(id, new ReadRoom(OBJECT_BYTES_MAX), 0);
  }

  async #readWithin(id: string, room: ReadRoom, depth: number): Promise<GitObject | null> {
    if (depth > DEPTH_MAX) throw new Error("an object is made of too many others");
    const loosePath = await this.#findLoose(id);
    if (loosePath !== null) return await this.#readLoose(loosePath);
    for (const pack of await this.#openPacks(id.length / 2)) {
      const offset = await pack.find(Buffer.from(id, "hex"));
      if (offset === null) continue;
      return await pack.read(offset, room, (other) => this.#readWithin(other, room, depth + 1));
    }
    return null;
  }

  async #findLoose(id: string): Promise<RawPath | null> {
    for (const directory of await this.#directories) {
      const loosePath = `${directory}/${id.slice(0, 2)}/${id.slice(2)}`;
      if (this.#files.find(loosePath)?.type === "file") return loosePath;
    }
    return null;
  }

  async #readLoose(loosePath: RawPath): Promise<GitObject> {
    const compressed = (await this.#files.read(loosePath, OBJECT_BYTES_MAX)) ?? Buffer.alloc(0);
    const bytes = inflateSync(compressed, { maxOutputLength: OBJECT_BYTES_MAX });
    const end = bytes.indexOf(0);
    const [type = ""] = bytes.subarray(0, end).toString("latin1").split(" ");
    return { type, content: bytes.subarray(end + 1) };
  }

  #openPacks(hashBytes: number): Promise<GitPack[]> {
    this.#packs ??= this.#loadPacks(hashBytes);
    return this.#packs;
  }

  async #loadPacks(hashBytes: number): Promise<GitPack[]> {
    const packs: GitPack[] = [];
    await using opened = new AsyncDisposableStack();
    for (const directory of await this.#directories) {
      const packDir = `${directory}/pack`;
      for (const name of this.#files.names(packDir)) {
        const stem = name.endsWith(".idx") ? `${packDir}/${name.slice(0, -".idx".length)}` : null;
        const index = stem === null ? null : this.#files.find(`${stem}.idx`);
        const pack = stem === null ? null : this.#files.find(`${stem}.pack`);
        if (index?.type !== "file" || pack?.type !== "file") continue;
        if (packs.length === PACKS_MAX) throw new Error(`it has more than ${PACKS_MAX} packs`);
        const handles = [opened.use(await openEntry(index)), opened.use(await openEntry(pack))];
        const [indexFile, packFile] = handles as [(typeof handles)[0], (typeof handles)[0]];
        packs.push(await GitPack.open(indexFile, packFile, hashBytes));
      }
    }
    opened.move(); // the packs are open from now on
    return packs;
  }

  async #findDirectories(own: RawPath): Promise<RawPath[]> {
    const found: RawPath[] = [];
    const waiting = [own];
    for (let at = waiting.shift(); at !== undefined; at = waiting.shift()) {
      const resolved = this.#files.resolve(at);
      if (resolved === null || found.includes(resolved)) continue;
      found.push(resolved);
      if (found.length === DIRECTORIES_MAX) break;
      const borrowed = await this.#files.read(`${resolved}/info/alternates`, ALTERNATES_BYTES_MAX);
      for (const line of borrowed?.toString("latin1").split("\n") ?? []) {
        if (line === "" || line.startsWith("#")) continue;
        waiting.push(line.startsWith("/") ? line : `${resolved}/${line}`);
      }
    }
    return found;
  }
}
