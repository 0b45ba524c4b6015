import {
  existsSync,
  mkdirSync,
  readFileSync,
  statfsSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { rename, rm } from "node:fs/promises";
import { isSystemError, runProcess, type StateLayout } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { MS_NODEV, MS_NOSUID, MS_REMOUNT, mount } from "../kernel/index.ts";
import { filesystemUuid } from "./btrfs-ioctl.ts";
import { mountImage, mountStandIn, reasonOf, unmountStandIn } from "./mount-store.ts";
import { Store } from "./store.ts";
import { StoreHealth } from "./store-health.ts";
import type { StorePrograms } from "./store-programs.ts";

const BTRFS_MAGIC = 0x9123683e;
const TMPFS_MAGIC = 0x01021994;
const MEBIBYTE = 1024 * 1024;
const STORE_BYTES_MIN = 256 * MEBIBYTE;
/** Part of the free space that the store may use; the image is sparse and grows as needed. */
const STORE_SHARE_OF_FREE = 0.8;
/** What mkfs.btrfs gives to metadata is less: too little for a snapshot once all else is full. */
const METADATA_BYTES_MIN = 32 * MEBIBYTE;
/** Part of the memory that the images' tmpfs may use before checkpoints go straight to the store. */
const IMAGES_SHARE_OF_MEMORY = 0.25;

/** How large the parts of a store may become. */
export interface StoreLimits {
  /** Size of a new loop image. @defaultValue 80 % of the free space */
  storeBytes?: number;
  /** Size of the tmpfs for process images. @defaultValue a quarter of the memory */
  imagesBytes?: number;
}

/** What a store is opened with. */
export interface StoreOptions {
  /** Memory of the machine. */
  memoryBytes: number;
  programs: StorePrograms;
  limits: StoreLimits;
  /** Whether nothing is known that must be in a store: then one that is not there is made. */
  mayMake: boolean;
}

/**
 * Opens the store of a state directory, and makes it if there never was one.
 *
 * A store that was there is never made anew. One that cannot be written is mounted to be read; in the
 * place of one that cannot be mounted lies an empty directory that nobody can write. Its health says so.
 *
 * **Requires** the daemon's own mount namespace: the mounts are meant to be seen by it alone.
 * **On success** `storeDir` is on btrfs, if it can be, and `imagesDir` is a tmpfs; both outlive the
 * daemon.
 * **On failure** an image file that was being made is gone.
 *
 * @throws STORE_FULL    the disk has no room for a store.
 * @throws STORE_FAILED  a new store could not be made or mounted.
 */
export async function openStore(
  layout: StateLayout,
  { memoryBytes, programs, limits, mayMake }: StoreOptions,
): Promise<Store> {
  mkdirSync(layout.storeDir, { recursive: true, mode: 0o700 });
  mkdirSync(layout.imagesDir, { recursive: true, mode: 0o700 });
  unmountStandIn(layout);
  const mountFailure =
    filesystemType(layout.storeDir) === BTRFS_MAGIC
      ? null
      : await mountStore(layout, limits, mayMake);
  const health = new StoreHealth(layout, mountFailure);
  if (health.now().state === "writable") await enlargeMetadata(layout);
  const imagesBytes = limits.imagesBytes ?? Math.floor(memoryBytes * IMAGES_SHARE_OF_MEMORY);
  const isNew = mountImages(layout, imagesBytes);
  const store = new Store(layout, programs, health);
  store.images.haveLostMemory = isNew;
  return store;
}

/** Returns why the store is not what it should be; `null` where it is. */
async function mountStore(
  layout: StateLayout,
  limits: StoreLimits,
  mayMake: boolean,
): Promise<string | null> {
  const isThere = existsSync(layout.storeImagePath);
  if (!isThere && !mayMake) {
    mountStandIn(layout);
    return `${layout.storeImagePath} is missing, and the catalog beside it names sessions or checkpoints; put it back, or move the catalog away to begin anew`;
  }
  if (!isThere) await makeImage(layout, limits);
  try {
    return await mountImage(layout);
  } catch (cause) {
    if (!isThere) {
      // Nothing is in it yet, and the next start must find things as this one did.
      await rm(layout.storeImagePath, { force: true });
      throw storeFailed("could not be mounted", layout, cause);
    }
    mountStandIn(layout);
    return `${layout.storeImagePath} cannot be mounted: ${reasonOf(cause)}`;
  }
}

/**
 * Opens the store of a daemon that runs, in another process, to read what checkpoints hold and to make
 * throw-away subvolumes.
 */
export function openStoreForReading(layout: StateLayout): Store {
  const programs = { copyProgramPath: "", sumsProgramPath: "", shareProgramPath: "" };
  return new Store(layout, programs, new StoreHealth(layout, null));
}

/**
 * Mounts the tmpfs for images, or gives the one that is there its size.
 *
 * With `within_size` the kernel takes large pages for large writes and small ones for small files,
 * which makes the dump of a large session more than twice as fast (docs/notes/tmpfs).
 */
/** Returns whether what was in it is gone, if there ever was anything. */
function mountImages({ imagesDir }: StateLayout, sizeBytes: number): boolean {
  const isThere = filesystemType(imagesDir) === TMPFS_MAGIC;
  const flags = MS_NOSUID | MS_NODEV | (isThere ? MS_REMOUNT : 0);
  const options = `mode=700,size=${sizeBytes}`;
  for (const huge of [",huge=within_size", ""]) {
    try {
      mount("tmpfs", imagesDir, "tmpfs", flags, options + huge);
      break;
    } catch (error) {
      if (huge !== "" && isSystemError(error, "EINVAL")) continue;
      // Images that the last daemon was allowed stay; new ones find no room, and go to the store.
      if (isThere && isSystemError(error, "EINVAL")) break;
      throw error;
    }
  }
  return !isThere;
}

function filesystemType(directory: string): number {
  return Number(statfsSync(directory).type) >>> 0;
}

async function makeImage(layout: StateLayout, limits: StoreLimits): Promise<void> {
  const free = statfsSync(layout.stateDir);
  const freeBytes = free.bavail * free.bsize;
  const sizeBytes = limits.storeBytes ?? Math.floor(freeBytes * STORE_SHARE_OF_FREE);
  if (sizeBytes < STORE_BYTES_MIN) {
    throw new WaypointError(
      "STORE_FULL",
      `The store needs at least ${STORE_BYTES_MIN / MEBIBYTE} MiB at ${layout.stateDir}, which has ${Math.floor(freeBytes / MEBIBYTE)} MiB free.`,
      { hint: "Free disk space, or set WAYPOINT_DIR to a directory on a larger disk." },
    );
  }
  const unfinishedPath = `${layout.storeImagePath}.new`;
  try {
    writeFileSync(unfinishedPath, "", { mode: 0o600 });
    truncateSync(unfinishedPath, Math.floor(sizeBytes / MEBIBYTE) * MEBIBYTE);
    await runProcess(["mkfs.btrfs", "-q", "-f", "-m", "single", unfinishedPath]);
    await rename(unfinishedPath, layout.storeImagePath);
  } catch (cause) {
    await rm(unfinishedPath, { force: true });
    throw storeFailed("could not be made", layout, cause);
  }
}

/** Has btrfs move its metadata to a chunk of the usual size, while there is room for one. */
async function enlargeMetadata({ storeDir }: StateLayout): Promise<void> {
  const allocation = `/sys/fs/btrfs/${filesystemUuid(storeDir)}/allocation/metadata/total_bytes`;
  if (Number(readFileSync(allocation, "utf8")) >= METADATA_BYTES_MIN) return;
  // In a store that is full already it finds no room; all but snapshots works there.
  await runProcess(["btrfs", "balance", "start", "-m", storeDir]).catch(() => {});
}

function storeFailed(what: string, layout: StateLayout, cause: unknown): WaypointError {
  return new WaypointError("STORE_FAILED", `The store at ${layout.storeImagePath} ${what}.`, {
    hint: `${reasonOf(cause)}. \`waypoint doctor\` tells what this machine lacks.`,
    cause,
  });
}
