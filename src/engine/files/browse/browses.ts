import { closeSync, mkdirSync, readdirSync, rmdirSync } from "node:fs";
import { readdir } from "node:fs/promises";
import path from "node:path";
import { fdPath, fromText, isSystemError, Rollback } from "../../../base/index.ts";
import { resolveMoment } from "../../../portable/lineage/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { Browse } from "../../../shared/protocol/index.ts";
import { type Moment, openMoment } from "../../moment/index.ts";
import type { BrowseMounts, BrowseRequest, Engine, StreamClient } from "../../ports/index.ts";
import { Root, requireDirectory } from "../copy/root.ts";

/** A mount that is there, and what it holds. */
interface Browsing {
  browse: Browse;
  /** How it was called: what that means may change, as `web~1` does. */
  reference: string;
  /** The namespace that it is mounted in, kept open. */
  namespaceFd: number;
  /** A directory that was made for it; `null` if the user gave one. */
  madeDir: string | null;
  moment: Moment;
}

/**
 * The moments that are mounted for users to look at, each read-only, in the mount namespace of the
 * client who asked for it.
 *
 * They last until they are ended, the daemon stops, or the next one starts: the source of each mount
 * names its daemon's state directory, so that nothing else must be noted to find what a killed
 * daemon has left.
 */
export class Browses implements BrowseMounts {
  readonly #engine: Engine;
  readonly #browsing = new Map<string, Browsing>();

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  list(): Browse[] {
    return [...this.#browsing.values()].map(({ browse }) => browse);
  }

  /**
   * Mounts a moment on an empty directory of the client's machine.
   *
   * **On failure** nothing is mounted, and no directory is left.
   *
   * @throws FILE_NOT_FOUND | FILE_REFUSED  the directory is not there, or not empty.
   * @throws CHECKPOINT_NOT_FOUND | CHECKPOINT_INCOMPLETE | SANDBOX_FAILED | TOOL_FAILED
   */
  async begin(
    { moment: reference, directory }: BrowseRequest,
    client: StreamClient,
  ): Promise<Browse> {
    const { newId, catalog, sandbox } = this.#engine;
    const id = newId();
    await using rollback = new Rollback();
    const moment = await openMoment(resolveMoment(reference, catalog), this.#engine);
    rollback.defer("close the moment", async () => await moment[Symbol.asyncDispose]());
    const madeDir = directory === undefined ? this.#makeDir(id) : null;
    if (madeDir !== null) rollback.defer("remove its directory", () => rmdirSync(madeDir));
    const namespaceFd = sandbox.openMountNamespace(client.pid);
    rollback.defer("close the namespace", () => closeSync(namespaceFd));
    const target = path.posix.normalize(directory ?? madeDir ?? "");
    await this.#mount(id, moment, { target, namespaceFd }, client);
    rollback.keep();
    const browse: Browse = {
      ...{ id, moment: moment.name, checkpoint: moment.checkpoint?.id ?? null, path: target },
      since: new Date().toISOString(),
      bindsLeftOut: moment.origin.binds.map(({ target: bindTarget }) => bindTarget),
    };
    this.#browsing.set(id, { browse, reference, namespaceFd, madeDir, moment });
    return browse;
  }

  /** Ends what `which` names: an id, a directory, a checkpoint or its session. @throws FILE_NOT_FOUND */
  async end(which: string): Promise<Browse[]> {
    const names = [which, ...this.#meant(which)];
    const wanted = [...this.#browsing.values()]
      .filter(({ browse: { id, path: at, checkpoint, moment }, reference }) =>
        [id, at, checkpoint, moment, reference].some(
          (each) => each !== null && names.includes(each),
        ),
      )
      .map(({ browse }) => browse);
    if (wanted.length === 0) {
      throw new WaypointError("FILE_NOT_FOUND", `Nothing is browsed as ${JSON.stringify(which)}.`, {
        hint: "`waypoint browse --list` shows what is.",
      });
    }
    for (const { id } of wanted) await this.#end(id);
    return wanted;
  }

  /** What was removed since, or is a directory, is no moment. */
  #meant(reference: string): string[] {
    try {
      const moment = resolveMoment(reference, this.#engine.catalog);
      return ["session" in moment ? moment.session.name : moment.checkpoint.id];
    } catch {
      return [];
    }
  }

  /** Returns those that show one of these checkpoints. */
  of(checkpoints: readonly string[]): Browse[] {
    return this.list().filter((each) => checkpoints.includes(each.checkpoint ?? ""));
  }

  /** Ends all of them, also where one of them fails. */
  async endAll(): Promise<void> {
    for (const id of [...this.#browsing.keys()]) {
      await this.#end(id).catch((error: unknown) => {
        this.#engine.logger.error("end a browse", error, { id });
      });
    }
  }

  /** Ends what a killed daemon has left, on the machine as the starter of this daemon sees it. */
  async endLeft(): Promise<void> {
    const { settings, sandbox, logger } = this.#engine;
    const start = this.#source("");
    try {
      if (settings.hostNamespacePath !== null) {
        await sandbox.unmountIn(settings.hostNamespacePath, (source) => source.startsWith(start));
      }
      for (const name of listDirs(settings.layout.browseDir)) {
        rmdirSync(path.join(settings.layout.browseDir, name));
      }
    } catch (error) {
      // Sessions matter more than a mount that is in the way.
      logger.error("end what was browsed", error);
    }
  }

  async #mount(
    id: string,
    moment: Moment,
    { target, namespaceFd }: { target: string; namespaceFd: number },
    client: StreamClient,
  ): Promise<void> {
    using root = Root.of(client.pid, this.#engine.fileCalls);
    using directory = requireDirectory(root, fromText(target), "on this machine");
    await requireEmpty(directory.fd, target);
    const { sandbox, settings } = this.#engine;
    const viewDir = sandbox.mountView(id, layersOf(moment), this.#source(id));
    try {
      const to = { namespaceFd, directoryFd: directory.fd };
      await sandbox.attachView(viewDir, to, settings.mountProgramPath);
    } finally {
      sandbox.unmountView(id);
    }
  }

  async #end(id: string): Promise<void> {
    const browsing = this.#browsing.get(id);
    if (browsing === undefined) return;
    this.#browsing.delete(id);
    const { namespaceFd, madeDir, moment } = browsing;
    try {
      const source = this.#source(id);
      await this.#engine.sandbox.unmountIn(namespaceFd, (each) => each === source);
      if (madeDir !== null) removeDir(madeDir);
    } finally {
      closeSync(namespaceFd);
      await moment[Symbol.asyncDispose]();
    }
  }

  #makeDir(id: string): string {
    const madeDir = path.join(this.#engine.settings.layout.browseDir, id);
    mkdirSync(madeDir, { recursive: true, mode: 0o700 });
    return madeDir;
  }

  #source(id: string): string {
    return `waypoint-${this.#engine.settings.layout.key}-${id}`;
  }
}

function layersOf({ subvolumePath, baseDir, origin }: Moment) {
  const root = { upperDir: path.join(subvolumePath, "upper"), baseDir };
  const others = origin.hostMounts.map((mountPath, number) => ({
    upperDir: path.join(subvolumePath, `mounts/${number}/upper`),
    ...{ baseDir: mountPath, mountPath },
  }));
  return [{ ...root, mountPath: "/" }, ...others];
}

async function requireEmpty(directoryFd: number, shown: string): Promise<void> {
  const names = await readdir(`${fdPath(directoryFd)}/.`);
  if (names.length === 0) return;
  throw new WaypointError("FILE_REFUSED", `The directory ${shown} is not empty.`, {
    hint: "Give an empty one, or none: one is made then.",
  });
}

function removeDir(directory: string): void {
  try {
    rmdirSync(directory);
  } catch (error) {
    // Somebody has tidied up already.
    if (!isSystemError(error, "ENOENT")) throw error;
  }
}

function listDirs(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
