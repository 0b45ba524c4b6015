import { createClient, createCluster } from "redis";
import { type DebianProgram, findProgram } from "./debian-programs.ts";
import { directoryOfNobody, freePort, removeDirectory, ServerProcess } from "./server-process.ts";

const SLOTS = 16_384;

/** A Redis of a test's own, on a port of this machine: each write reaches the disk. */
export class RedisServer implements AsyncDisposable {
  static readonly password = "s3cret";
  readonly port: number;
  readonly #program: DebianProgram;
  readonly #settings: readonly string[];
  readonly #directory = directoryOfNobody();
  readonly #process = new ServerProcess();

  private constructor(program: DebianProgram, port: number, settings: readonly string[]) {
    this.#program = program;
    this.port = port;
    this.#settings = settings;
  }

  /** @param settings  further words for the server's command line */
  static async open(settings: readonly string[] = []): Promise<RedisServer> {
    const program = await findProgram("redis-server", ["usr/bin/redis-server"]);
    const server = new RedisServer(program, await freePort(), settings);
    try {
      await server.start();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Starts one that is a cluster of its own, with all slots. */
  static async openCluster(): Promise<RedisServer> {
    const server = await RedisServer.open(["--cluster-enabled", "yes"]);
    await server.send("CLUSTER", "ADDSLOTSRANGE", "0", String(SLOTS - 1));
    return server;
  }

  url({ password = RedisServer.password, port = this.port } = {}): string {
    return `redis://:${password}@127.0.0.1:${port}`;
  }

  cluster() {
    const rootNodes = [{ url: this.url() }];
    return createCluster({ rootNodes, defaults: { password: RedisServer.password } });
  }

  async start(): Promise<void> {
    const argv = [
      ...[this.#program.path, "--port", String(this.port), "--bind", "127.0.0.1"],
      ...["--requirepass", RedisServer.password, "--dir", this.#directory, "--save", ""],
      ...["--appendonly", "yes", "--appendfsync", "always"],
      ...this.#settings,
    ] as [string, ...string[]];
    await this.#process.start(argv, this.#program.env, () => this.#answers());
  }

  /** Sends a command by itself. */
  async send(...words: string[]): Promise<unknown> {
    const socket = { reconnectStrategy: false } as const;
    const client = createClient({ url: this.url(), socket });
    client.on("error", () => {});
    await client.connect();
    try {
      return await client.sendCommand(words);
    } finally {
      client.destroy();
    }
  }

  async kill(): Promise<void> {
    await this.#process.end("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.end("SIGKILL");
    removeDirectory(this.#directory);
    this.#program[Symbol.dispose]();
  }

  async #answers(): Promise<boolean> {
    try {
      return (await this.send("PING")) === "PONG";
    } catch {
      return false;
    }
  }
}
