import { lstatSync } from "node:fs";
import path from "node:path";
import { fromText, isAtOrBelow, type RawPath, toBytes } from "../../../base/index.ts";
import { ancestry } from "../../../portable/lineage/index.ts";
import type { CheckpointRow } from "../../../portable/model/index.ts";
import type { ReadingCalls } from "../../ports/index.ts";
import type { TreeEntry } from "../files/overlay-tree.ts";
import type { RawChange } from "../files/raw-change.ts";
import type { ReadingEngine } from "../reading-engine.ts";
import { type BaseVersion, readBaseVersions } from "./base-versions.ts";

const ORIGIN = "trusted.overlay.origin";
const OPAQUE = "trusted.overlay.opaque";
/** struct ovl_fb: version, magic, length, flags, type, a UUID, and then the handle. */
const ORIGIN_TYPE_AT = 4;
const ORIGIN_HANDLE_AT = 21;
/** The kernel's clock for files goes in steps, and is behind by up to one of them. */
const CLOCK_STEP_NS = 20_000_000n;
const NS_PER_MS = 1_000_000;

/**
 * What the base had at a path when the session began to change it.
 *
 * `unchanged`: exactly what it has now. `absent`: nothing. `unknown`: the base was changed since, or
 * may have been.
 */
export type FirstView = "unchanged" | "absent" | "unknown";

/**
 * Tells of each path whether its base is still what the session began from.
 *
 * A session reads its base live until it changes a path. So a base file whose status was last
 * changed before that moment is what the session saw. That moment is known exactly where the upper
 * file is still the copy that the kernel made; else it lies after the newest ancestor that has not
 * touched the path, or after the start of the session.
 */
export class FirstViews {
  readonly #line: readonly CheckpointRow[];
  readonly #origin: CheckpointRow;
  readonly #engine: ReadingEngine;
  readonly #recorded = new Map<string, Promise<Map<RawPath, BaseVersion>>>();

  constructor(checkpoint: CheckpointRow, engine: ReadingEngine) {
    this.#line = ancestry(checkpoint.id, engine.catalog);
    this.#origin = checkpoint;
    this.#engine = engine;
  }

  /** @param now  what the base has at the path now. */
  of(
    rawPath: RawPath,
    now: TreeEntry | null,
    change: Pick<RawChange, "change" | "after">,
  ): FirstView {
    const upper = change.after;
    const calls = this.#engine.fileCalls;
    const origin = upper === null || upper.upperInode === null ? null : originOf(upper, calls);
    if (now === null) {
      // A copy of a base file that is not there any more: somebody has removed or moved it.
      return origin !== null && change.change !== "renamed" ? "unknown" : "absent";
    }
    const ctimeNs = this.ctimeNs(now);
    if (ctimeNs <= this.untouchedUntilNs(rawPath)) return "unchanged";
    if (upper === null || origin === null || !isHandleOf(origin, now, calls)) return "unknown";
    const copiedAtNs = lstatSync(toBytes(upper.hostPath), { bigint: true }).birthtimeNs;
    return ctimeNs + CLOCK_STEP_NS <= copiedAtNs ? "unchanged" : "unknown";
  }

  /**
   * Returns what the base had at a path when the session began to change it, as it was noted with
   * the first checkpoint that has touched it; `null` where it was not.
   */
  async recorded(rawPath: RawPath): Promise<BaseVersion | null> {
    const first = this.firstTouched(rawPath);
    if (first === undefined) return null;
    const versions = this.#recorded.get(first.id) ?? readBaseVersions(first.id, this.#engine);
    this.#recorded.set(first.id, versions);
    return (await versions).get(rawPath) ?? null;
  }

  /** Tells whether the session had written a path at the checkpoint, or removed it. */
  isWritten(rawPath: RawPath): boolean {
    const { prefix, inLayer } = this.#layerOf(rawPath);
    const upperDir = path.join(this.#snapshotOf(this.#origin), prefix);
    return isTouched(upperDir, inLayer, this.#engine.fileCalls);
  }

  /** Returns the first checkpoint of the line in which the session has changed a path. */
  firstTouched(rawPath: RawPath): CheckpointRow | undefined {
    return this.#line[this.#touchedCount(rawPath) - 1];
  }

  /** Returns when a file of the base was last changed, its content, name or rights. */
  ctimeNs({ hostPath }: TreeEntry): bigint {
    return lstatSync(toBytes(hostPath), { bigint: true }).ctimeNs;
  }

  /**
   * Returns a time at which the session had certainly not begun to change a path: a file of the base
   * that was last changed by then is what the session saw.
   */
  untouchedUntilNs(rawPath: RawPath): bigint {
    const untouched = this.#line[this.#touchedCount(rawPath)];
    if (untouched !== undefined) {
      const takenAtMs = Date.parse(untouched.createdAt) - untouched.totalMs;
      return BigInt(Math.floor(takenAtMs)) * BigInt(NS_PER_MS) - CLOCK_STEP_NS;
    }
    // The layers were made when the first session of this line was started.
    const { prefix } = this.#layerOf(rawPath);
    const layerPath = path.join(this.#snapshotOf(this.#origin), prefix);
    return lstatSync(layerPath, { bigint: true }).birthtimeNs - CLOCK_STEP_NS;
  }

  /** Once touched, a path stays so in all that descends: the border is found by halving. */
  #touchedCount(rawPath: RawPath): number {
    const { prefix, inLayer } = this.#layerOf(rawPath);
    let touchedCount = 0;
    let end = this.#line.length;
    while (touchedCount < end) {
      const middle = Math.floor((touchedCount + end) / 2);
      const row = this.#line[middle] as CheckpointRow;
      const upperDir = path.join(this.#snapshotOf(row), prefix);
      if (isTouched(upperDir, inLayer, this.#engine.fileCalls)) touchedCount = middle + 1;
      else end = middle;
    }
    return touchedCount;
  }

  #snapshotOf({ id }: CheckpointRow): string {
    return this.#engine.store.checkpointPaths(id).snapshotPath;
  }

  #layerOf(rawPath: RawPath): { prefix: string; inLayer: RawPath } {
    let inner = { mountPath: "/", prefix: "upper" };
    for (const [number, hostMount] of this.#origin.hostMounts.entries()) {
      const mountPath = fromText(hostMount);
      if (!isAtOrBelow(rawPath, mountPath) || mountPath.length < inner.mountPath.length) continue;
      inner = { mountPath, prefix: `mounts/${number}/upper` };
    }
    const { mountPath, prefix } = inner;
    return { prefix, inLayer: mountPath === "/" ? rawPath : rawPath.slice(mountPath.length) };
  }
}

/** Tells whether an upper directory says anything of a path, by itself or by a directory above it. */
function isTouched(upperDir: string, inLayer: RawPath, { readXattr }: ReadingCalls): boolean {
  let at = fromText(upperDir);
  for (const name of inLayer.split("/")) {
    if (name === "") continue;
    at = `${at}/${name}`;
    const status = lstatSync(toBytes(at), { throwIfNoEntry: false });
    if (status === undefined) return false;
    if (!status.isDirectory()) return true;
    if (readXattr(toBytes(at), OPAQUE) !== null) return true;
  }
  return true;
}

function originOf({ hostPath }: TreeEntry, { readXattr }: ReadingCalls): Buffer | null {
  return readXattr(toBytes(hostPath), ORIGIN);
}

/** Tells whether an upper file was copied from this very file of the base. */
function isHandleOf(
  origin: Buffer,
  { hostPath }: TreeEntry,
  { fileHandle }: ReadingCalls,
): boolean {
  const handle = fileHandle(toBytes(hostPath));
  if (handle === null || origin.length <= ORIGIN_HANDLE_AT) return false;
  const isSameType = origin[ORIGIN_TYPE_AT] === handle.type;
  return isSameType && origin.subarray(ORIGIN_HANDLE_AT).equals(handle.bytes);
}
