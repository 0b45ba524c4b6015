import { once } from "node:events";
import { rm } from "node:fs/promises";
import { createServer, type Server, type Socket } from "node:net";

/** What the hook takes for leave to go on. */
const GO_ON = "g";

/**
 * Holds a restore when all its tasks are back and none has run yet, until some work is done.
 *
 * CRIU's hook connects and waits. It goes on when it is told to; when the connection ends without a
 * word (the work failed, or this daemon died) CRIU ends the restored tasks.
 */
export class ResumeGate implements AsyncDisposable {
  readonly socketPath: string;
  readonly #server: Server;
  #work: Promise<void> | null = null;
  #failure: { cause: unknown } | null = null;

  private constructor(socketPath: string, server: Server) {
    this.socketPath = socketPath;
    this.#server = server;
  }

  /** Listens for the hook of one restore. */
  static async open(socketPath: string, work: () => Promise<void>): Promise<ResumeGate> {
    const server = createServer();
    const gate = new ResumeGate(socketPath, server);
    server.on("connection", (hook) => {
      gate.#work ??= gate.#answer(hook, work);
    });
    server.listen(socketPath);
    await once(server, "listening");
    return gate;
  }

  /** Why the work failed; null if it did not. */
  get failure(): { cause: unknown } | null {
    return this.#failure;
  }

  /** Resolves when the work, if it was begun, has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.close();
    await this.#work;
    await rm(this.socketPath, { force: true });
  }

  async #answer(hook: Socket, work: () => Promise<void>): Promise<void> {
    // A hook that was ended with its CRIU is the matter of whoever ended it.
    hook.on("error", () => {});
    try {
      await work();
      hook.end(GO_ON);
    } catch (cause) {
      this.#failure = { cause };
      hook.destroy();
    }
  }
}
