import { rmSync, statSync } from "node:fs";
import { createServer, type Server, type Socket } from "node:net";
import process from "node:process";
import type { Logger } from "../../base/index.ts";

/** How often to look whether the socket can still be found. */
const LOOK_INTERVAL_MS = 1_000;

/**
 * The daemon's socket, which clients find by its path.
 *
 * Somebody may remove its file, for instance what cleans a directory up: nobody could reach the
 * daemon any more, and none could take its place. So it is made again then.
 */
export class ListeningSocket {
  readonly #path: string;
  readonly #logger: Logger;
  readonly #onConnection: (socket: Socket) => void;
  #server: Server | undefined;
  #timer: NodeJS.Timeout | undefined;
  /** The file that is ours; another one at the path is not. */
  #inode = 0n;

  constructor(path: string, logger: Logger, onConnection: (socket: Socket) => void) {
    this.#path = path;
    this.#logger = logger;
    this.#onConnection = onConnection;
  }

  /** Resolves when clients can connect. **Requires** the state directory's lock. */
  async listen(): Promise<void> {
    await this.#bind();
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MS).unref();
  }

  /** Takes no further connection; those that are there stay. Idempotent. */
  close(): void {
    clearInterval(this.#timer);
    if (this.#server === undefined) return;
    this.#unbind();
    rmSync(this.#path, { force: true });
  }

  #look(): void {
    if (this.#server === undefined || inodeOf(this.#path) === this.#inode) return;
    this.#logger.warn("the socket's file is gone and is made again", { path: this.#path });
    this.#unbind();
    this.#bind().catch((error: unknown) => {
      // As when its directory is gone; it is tried again at the next look.
      this.#logger.error("the socket could not be made again", error);
    });
  }

  /** What closes removes the file at the path: so the old socket goes before the new one is there. */
  #unbind(): void {
    this.#server?.close();
    this.#server = undefined;
  }

  async #bind(): Promise<void> {
    // The lock is ours, so a socket file that is there belongs to a daemon that died.
    rmSync(this.#path, { force: true });
    const server = createServer({ allowHalfOpen: false }, this.#onConnection);
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      // Nobody but root may connect: the socket gives all power over the sessions.
      const umaskBefore = process.umask(0o177);
      server.listen(this.#path, resolve);
      process.umask(umaskBefore);
    });
    this.#inode = inodeOf(this.#path);
  }
}

function inodeOf(path: string): bigint {
  return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino ?? 0n;
}
