import { constants, openSync } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import path from "node:path";
import { fdPath } from "../../../base/index.ts";
import { type FirstViews, MomentFiles, Pace } from "../../moment/index.ts";
import type { Engine } from "../../ports/index.ts";
import { Repositories } from "../../repository/index.ts";
import type { Sides } from "./find-base.ts";
import type { Mapping } from "./map-paths.ts";

/** What an apply has open already. */
interface Opened {
  files: { from: MomentFiles; to: MomentFiles };
  mapping: Mapping;
  /** The directory that is written to. */
  directoryFd: number;
  views: FirstViews;
  /** Where something may be made for the time of the apply. */
  scratchDir: string;
  signal: AbortSignal;
}

/** Opens the repositories of both sides of an apply; each is read when it is asked for. */
export async function openSides(
  { files, mapping, directoryFd, views, scratchDir, signal }: Opened,
  engine: Engine,
): Promise<Sides & AsyncDisposable> {
  await using opened = new AsyncDisposableStack();
  const filesOfTarget = mapping.isBase
    ? files.from
    : opened.use(await openDirectory(directoryFd, scratchDir, engine));
  const repositories = {
    target: opened.use(new Repositories(filesOfTarget)),
    session: opened.use(new Repositories(files.to)),
    base: opened.use(new Repositories(files.from)),
  };
  const sides = { ...repositories, views, engine, pace: new Pace(signal) };
  const open = opened.move();
  return { ...sides, [Symbol.asyncDispose]: () => open.disposeAsync() };
}

/**
 * A directory of the machine as the files of a moment, out of which no link leads. It is of the mounts
 * of whoever asked, which cannot be copied from here: it is read where it is.
 */
async function openDirectory(
  directoryFd: number,
  scratchDir: string,
  { fileCalls }: Engine,
): Promise<MomentFiles & AsyncDisposable> {
  const subvolumePath = path.join(scratchDir, "target");
  await mkdir(path.join(subvolumePath, "upper"), { recursive: true });
  const origin = { hostMounts: [], binds: [] };
  const openWithoutMounts = (path: string) =>
    openSync(path, constants.O_RDONLY | constants.O_DIRECTORY);
  const calls = { ...fileCalls, openWithoutMounts };
  const files = new MomentFiles({ subvolumePath, baseDir: fdPath(directoryFd), origin, calls });
  return Object.assign(files, {
    [Symbol.asyncDispose]: async () => {
      files[Symbol.dispose]();
      await rm(subvolumePath, { recursive: true, force: true });
    },
  });
}
