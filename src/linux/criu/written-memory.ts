import { existsSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { join } from "node:path";
import { runProcess } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { takenPagesPath, trimTakenPages } from "./taken-pages.ts";

/** Far beyond what the largest session takes on a slow disk; a program that hangs must end. */
const TIMEOUT_MS = 600_000;
const CLEAN_LIST = "clean-pages";
const SECOND_COPY = "second-copy";

/** A dump of a tree whose writes are followed, or that has not all of its memory yet. */
export interface TrackedDump {
  /** Where its memory tracker listens; `null`: nobody follows its writes. */
  socketPath: string | null;
  /** Where the pages server of a tree listens that is not full: what is missing the reference has. */
  pagesSocketPath?: string;
  /** What is clean from now on is so since this checkpoint. */
  checkpointId: string;
  /** Processes with less memory are not followed. */
  bytesMin: number;
  /** native/image-assemble, built. */
  assembleProgramPath: string;
  /** Where what is clean by now comes from; `null`: everything is copied. */
  reference: TrackedReference | null;
  /** Copies all memory a second time in the pause, and compares: for tests. @defaultValue false */
  compares?: boolean;
}

/** One that a memory tracker follows. */
export type FollowedDump = TrackedDump & { socketPath: string };

/** Complete images of the checkpoint since which writes are followed. */
export interface TrackedReference {
  imagesDir: string;
  /** Makes the directory for the complete images, empty or as the reference; `null`: they stay where CRIU writes them. */
  makeTarget: (() => Promise<string>) | null;
  /** File that gets what is not as in the reference. @defaultValue none */
  changedPath?: string;
  /** Keeps it where it is until that is disposed of. */
  hold?: () => Disposable;
  /** Compares it with what was captured; `undefined`: it has no sums, or is in memory. @throws CHECKPOINT_INCOMPLETE */
  requireSound?: () => Promise<void>;
}

/** What a dump left. */
export interface CompleteImages {
  imagesDir: string;
  /** Memory that was taken from the reference. */
  cleanBytes: number;
  /** Memory that was copied in the pause, and not by CRIU. */
  takenBytes: number;
}

const NOTHING_LEFT_OUT = { cleanBytes: 0, takenBytes: 0 };

interface DumpPlace {
  imagesDir: string;
  workDir: string;
  tracked?: TrackedDump | undefined;
}

/** Makes ready for a run of CRIU, and returns what its preload has to know. */
export async function beginTracked(place: DumpPlace): Promise<Record<string, string>> {
  const { tracked, workDir } = place;
  if (tracked === undefined) return {};
  const [cleanList, secondCopy] = [join(workDir, CLEAN_LIST), join(workDir, SECOND_COPY)];
  await rm(cleanList, { force: true });
  await rm(secondCopy, { recursive: true, force: true });
  if (tracked.compares === true) await mkdir(secondCopy, { mode: 0o700 });
  const tracker = {
    WAYPOINT_TRACKER: tracked.socketPath ?? "",
    WAYPOINT_TRACKED_FOR: tracked.checkpointId,
    WAYPOINT_TRACKED_BYTES_MIN: String(tracked.bytesMin),
  };
  return {
    ...(tracked.socketPath === null ? {} : tracker),
    ...(tracked.pagesSocketPath === undefined
      ? {}
      : { WAYPOINT_UNFILLED: tracked.pagesSocketPath }),
    ...(tracked.reference === null
      ? {}
      : {
          WAYPOINT_CLEAN_PAGES: cleanList,
          WAYPOINT_TAKEN_PAGES: takenPagesPath(workDir),
          WAYPOINT_REFERENCE: tracked.reference.imagesDir,
        }),
    ...(tracked.compares === true ? { WAYPOINT_SECOND_COPY: secondCopy } : {}),
  };
}

/**
 * Puts the complete images together, where CRIU has left out what was not written.
 *
 * @throws TOOL_FAILED  they cannot be: see {@link isIncomplete}.
 */
export async function completeTracked(place: DumpPlace): Promise<CompleteImages> {
  const { tracked, imagesDir, workDir } = place;
  if (tracked === undefined) return { imagesDir, ...NOTHING_LEFT_OUT };
  const complete = await assemble(tracked, place);
  if (tracked.compares === true) {
    const secondCopy = join(workDir, SECOND_COPY);
    // What is compared by tests fails for them alone.
    await runProcess([tracked.assembleProgramPath, "compare", complete.imagesDir, secondCopy], {
      timeoutMs: TIMEOUT_MS,
    });
    await rm(secondCopy, { recursive: true, force: true });
  }
  return complete;
}

async function assemble(
  { assembleProgramPath, reference, pagesSocketPath }: TrackedDump,
  { imagesDir, workDir }: DumpPlace,
): Promise<CompleteImages> {
  const cleanList = join(workDir, CLEAN_LIST);
  if (reference === null) return { imagesDir, ...NOTHING_LEFT_OUT };
  if (!existsSync(cleanList)) {
    if (pagesSocketPath === undefined) return { imagesDir, ...NOTHING_LEFT_OUT };
    throw incomplete("nobody has asked for what is missing", undefined);
  }
  try {
    const targetDir = reference.makeTarget === null ? imagesDir : await reference.makeTarget();
    const argv = [
      assembleProgramPath,
      targetDir,
      imagesDir,
      cleanList,
      takenPagesPath(workDir),
      reference.imagesDir,
    ] as const;
    const isElsewhere = targetDir !== imagesDir && reference.changedPath !== undefined;
    const changed = isElsewhere ? [reference.changedPath as string] : [];
    // Damage that is taken over would look like what was captured.
    const [assembled, compared] = await Promise.allSettled([
      runProcess([...argv, ...changed], { timeoutMs: TIMEOUT_MS }),
      reference.requireSound?.(),
    ]);
    if (assembled.status === "rejected") throw assembled.reason;
    if (compared.status === "rejected") throw compared.reason;
    const left = JSON.parse(assembled.value.stdout) as Omit<CompleteImages, "imagesDir">;
    trimTakenPages(workDir, left.takenBytes);
    if (targetDir !== imagesDir) await rm(imagesDir, { recursive: true });
    return { imagesDir: targetDir, cleanBytes: left.cleanBytes, takenBytes: left.takenBytes };
  } catch (cause) {
    // What copies everything now may need the room.
    trimTakenPages(workDir, 0);
    throw incomplete(reasonOf(cause), cause);
  }
}

function incomplete(why: string, cause: unknown): WaypointError {
  return new WaypointError("TOOL_FAILED", `Images were not put together: ${why}.`, {
    detail: { reason: "incomplete-images" },
    cause,
  });
}

function reasonOf(cause: unknown): string {
  if (!(cause instanceof WaypointError)) return String(cause);
  return `${cause.message} ${String(cause.detail["stderr"] ?? cause.hint ?? "")}`.trim();
}

/** Tells whether a dump failed because what was not written is not to be had: all can be copied. */
export function isIncomplete(error: unknown): boolean {
  return error instanceof WaypointError && error.detail["reason"] === "incomplete-images";
}
