import { constants } from "node:fs";
import { chmod, chown, link, lstat, mkdir, open, readFile, rm } from "node:fs/promises";
import path from "node:path";
import { fromText, type RawPath, toBytes } from "../../base/index.ts";
import { hasCode } from "../../shared/errors/index.ts";
import { CopyJob, makeCopy } from "../files/index.ts";
import { isText, TEXT_BYTES_MAX } from "../merge/index.ts";
import { readEntry, type TreeEntry } from "../moment/index.ts";
import type { Engine } from "../ports/index.ts";

/** So many files are tried; each starts a program. */
const TRIED_MAX = 1_000;
const LABELS = { ours: "now", base: "then", theirs: "before" };
const PERMISSIONS = 0o7777;
/** What goes back beside the lines. */
const RIGHTS = ["mode", "uid", "gid"] as const;

/** One file at three moments; `null` where it is not there. */
export interface ThreeEntries {
  /** Before the change that is taken back. */
  was: TreeEntry | null;
  /** After it. */
  became: TreeEntry | null;
  /** As it is now. */
  is: TreeEntry | null;
}

/**
 * Takes back changed lines of texts and keeps those that were changed since.
 *
 * What comes out lies in the store until this is disposed of; a daemon that died leaves it to the
 * next one ({@link removeStaleLineReverts}).
 */
export class LineReverts implements AsyncDisposable {
  readonly #directory: string;
  readonly #engine: Engine;
  readonly #signal: AbortSignal;
  /** What came out for files that have several names, by the inode that they have now. */
  readonly #ofLinked = new Map<string, TreeEntry>();
  #tried = 0;

  constructor(engine: Engine, signal: AbortSignal) {
    this.#directory = path.join(joinsDir(engine), engine.newId());
    this.#engine = engine;
    this.#signal = signal;
  }

  /**
   * Returns the file as it is now without what the change has done to it: `is` itself where
   * nothing is left of that, and `null` where both have touched the same lines or it is no text.
   */
  async join(rawPath: RawPath, { was, became, is }: ThreeEntries): Promise<TreeEntry | null> {
    if (was === null || became === null || is === null || this.#tried >= TRIED_MAX) return null;
    this.#signal.throwIfAborted();
    const texts = await readTexts(rawPath, [is, became, was]);
    if (texts === null) return null;
    this.#tried += 1;
    const [ours, base, theirs] = texts;
    await mkdir(this.#directory, { recursive: true, mode: 0o700 });
    try {
      const sides = { ours, base, theirs, labels: LABELS };
      const { text, hasConflicts } = await this.#engine.textTools.mergeTexts(
        sides,
        this.#directory,
      );
      if (hasConflicts) return null;
      const rights = rightsOf({ was, became, is });
      const isSame = text.equals(ours) && RIGHTS.every((right) => rights[right] === is[right]);
      return isSame ? is : await this.#keep(rawPath, text, { ...is, ...rights });
    } catch (error) {
      if (!hasCode(error, "TOOL_FAILED")) throw error;
      this.#engine.logger.warn("lines were not joined", { reason: error.message });
      return null;
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#directory, { recursive: true, force: true });
  }

  async #keep(rawPath: RawPath, text: Buffer, entry: TreeEntry): Promise<TreeEntry> {
    const { hostPath, mode, uid, gid } = entry;
    const place = path.join(this.#directory, String(this.#tried));
    await using directory = await open(this.#directory, constants.O_RDONLY | constants.O_DIRECTORY);
    const rules = { owner: null, dropsPrivileges: false };
    const job = new CopyJob(directory.fd, rules, {
      ...{ id: "join", signal: this.#signal, calls: this.#engine.fileCalls },
    });
    const status = await lstat(toBytes(hostPath), { bigint: true });
    const kept = { ...entry, sizeBytes: text.length, hostPath: fromText(place) };
    if (status.nlink > 1n) {
      const inode = `${status.dev}:${status.ino}`;
      const other = this.#ofLinked.get(inode);
      if (other !== undefined && (await isSameFile(other, kept, text))) {
        await link(toBytes(other.hostPath), place);
        return kept;
      }
      this.#ofLinked.set(inode, kept);
    }
    const name = String(this.#tried);
    await makeCopy({ rawPath, hostPath, status }, { directoryFd: directory.fd, name }, job, text);
    await chown(place, uid, gid);
    await chmod(place, mode & PERMISSIONS);
    return kept;
  }
}

/** Removes what a daemon that died has left. */
export async function removeStaleLineReverts(engine: Engine): Promise<void> {
  await rm(joinsDir(engine), { recursive: true, force: true });
}

async function isSameFile(one: TreeEntry, other: TreeEntry, text: Buffer): Promise<boolean> {
  const hasSameRights = RIGHTS.every((right) => one[right] === other[right]);
  return hasSameRights && text.equals(await readFile(toBytes(one.hostPath)));
}

/** Mode and owner go back as lines do: unless they were changed since. */
function rightsOf({ was, became, is }: { was: TreeEntry; became: TreeEntry; is: TreeEntry }) {
  const pick = (right: (typeof RIGHTS)[number]) =>
    is[right] === became[right] ? was[right] : is[right];
  return { mode: pick("mode"), uid: pick("uid"), gid: pick("gid") };
}

async function readTexts(
  rawPath: RawPath,
  entries: readonly [TreeEntry, TreeEntry, TreeEntry],
): Promise<[Buffer, Buffer, Buffer] | null> {
  if (entries.some(({ type, sizeBytes }) => type !== "file" || sizeBytes > TEXT_BYTES_MAX)) {
    return null;
  }
  const texts: Buffer[] = [];
  for (const entry of entries) {
    const text = await readEntry(entry, rawPath, TEXT_BYTES_MAX);
    if (text === null || !isText(text)) return null;
    texts.push(text);
  }
  return texts as [Buffer, Buffer, Buffer];
}

function joinsDir(engine: Engine): string {
  return path.join(engine.settings.layout.storeDir, "joins");
}
