import { fromText, isAtOrBelow, knownStateDirs } from "../../../base/index.ts";
import type { ChangedFile } from "../../../linux/sandbox/index.ts";
import type { CheckpointRow } from "../../../portable/model/index.ts";
import type { BaseChangesFinder, FoundBaseChanges } from "../../ports/index.ts";
import { Pace } from "../pace.ts";
import type { ReadingEngine } from "../reading-engine.ts";
import { FirstViews } from "./first-views.ts";

/** What was found less long ago is told again: going through a machine's files takes seconds. */
const FRESH_MS = 30_000;
const SCANS_KEPT_MAX = 8;

interface Scan {
  startedAtMs: number;
  found: Promise<FoundBaseChanges>;
}

/** Tells whether files of a base may change under a moment: one that the store keeps cannot. */
export function isLiveBase(base: string): boolean {
  return base.includes("/");
}

/** Returns a time at which a checkpoint's session certainly still ran on: files changed later are newer. */
export function takenAtMs({ createdAt, totalMs }: CheckpointRow): number {
  return Date.parse(createdAt) - totalMs;
}

/** Finds what of a live base has changed since checkpoints; one search for all who ask at a time. */
export class BaseChanges implements BaseChangesFinder {
  readonly #engine: ReadingEngine;
  readonly #scans = new Map<string, Scan>();
  readonly #ended = new AbortController();

  constructor(engine: ReadingEngine) {
    this.#engine = engine;
  }

  async since(checkpoint: CheckpointRow, isFresh: boolean): Promise<FoundBaseChanges | null> {
    if (!isLiveBase(checkpoint.base)) return null;
    const known = this.#scans.get(checkpoint.id);
    const isKnown = known !== undefined && Date.now() - known.startedAtMs < FRESH_MS;
    if (known !== undefined && isKnown && !isFresh) return await known.found;
    const scan = { startedAtMs: Date.now(), found: this.#find(checkpoint) };
    this.#scans.delete(checkpoint.id);
    this.#scans.set(checkpoint.id, scan);
    for (const id of [...this.#scans.keys()].slice(0, -SCANS_KEPT_MAX)) this.#scans.delete(id);
    scan.found.catch(() => this.#scans.delete(checkpoint.id));
    return await scan.found;
  }

  close(): void {
    this.#ended.abort();
  }

  async #find(checkpoint: CheckpointRow): Promise<FoundBaseChanges> {
    const { base, hostMounts, binds } = checkpoint;
    const { sandbox, settings } = this.#engine;
    const { signal } = this.#ended;
    const hidden = sandbox.findHidden(knownStateDirs(settings.layout.stateDir));
    const without = hidden.directories;
    const asOfMs = Date.now();
    const range = { sinceMs: takenAtMs(checkpoint), without, signal };
    const { files, isComplete } = await sandbox.findChangedFiles([base, ...hostMounts], range);
    const bound = binds.map(({ target }) => fromText(target));
    const views = new FirstViews(checkpoint, this.#engine);
    const pace = new Pace(signal);
    const seen: ChangedFile[] = [];
    for (const file of files) {
      await pace.yieldOften();
      const path = insideOf(base, hostMounts, file.path);
      const rawPath = fromText(path);
      if (bound.some((target) => isAtOrBelow(rawPath, target))) continue;
      if (!views.isWritten(rawPath)) seen.push({ ...file, path });
    }
    seen.sort((one, other) => other.changedAtMs - one.changedAtMs);
    return { files: seen, isComplete, asOfMs };
  }
}

/** Where a session has a file of its base, or of a mount of the host that it has a copy of. */
function insideOf(base: string, hostMounts: readonly string[], hostPath: string): string {
  const isOfMount = hostMounts.some((mount) => hostPath.startsWith(`${mount}/`));
  return base === "/" || isOfMount ? hostPath : hostPath.slice(base.length);
}
