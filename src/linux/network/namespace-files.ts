import { closeSync, openSync, rmSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { isSystemError } from "../../base/index.ts";
import { MS_BIND, MS_MOVE, mount, unmount } from "../kernel/index.ts";
import { requireWord } from "./refusals.ts";

/** The files that keep one daemon's network namespaces alive. */
export class NamespaceFiles {
  readonly #directory: string;
  readonly #prefix: string;

  constructor(options: { netnsDir: string; ownerKey: string }) {
    this.#directory = options.netnsDir;
    this.#prefix = `waypoint-${options.ownerKey}-`;
  }

  pathOf(instanceId: string): string {
    requireWord("instance id", instanceId, /^[A-Za-z0-9_-]{1,64}$/);
    return join(this.#directory, this.#prefix + instanceId);
  }

  /** Returns the instances that have a namespace. */
  async list(): Promise<string[]> {
    const names = await readdir(this.#directory);
    const owned = names.filter((name) => name.startsWith(this.#prefix));
    return owned.map((name) => name.slice(this.#prefix.length));
  }

  /** Gives a namespace to another instance. @throws EEXIST  that one has a namespace. */
  rename(fromId: string, toId: string): void {
    const from = this.pathOf(fromId);
    const to = this.pathOf(toId);
    closeSync(openSync(to, "wx"));
    try {
      // Without the wait for all processors that the end of a mount is.
      mount(from, to, null, MS_MOVE, null);
    } catch (error) {
      // What lies below may be shared with others, which a move is not.
      if (!isSystemError(error, "EINVAL")) throw error;
      mount(from, to, null, MS_BIND, null);
      unmount(from);
    }
    rmSync(from);
  }

  /** Removes the file of a namespace that was let go of; idempotent. */
  remove(instanceId: string): void {
    rmSync(this.pathOf(instanceId), { force: true });
  }
}
