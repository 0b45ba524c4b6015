import { execFile } from "node:child_process";
import { writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { promisify } from "node:util";
import { Client } from "pg";
import { type DebianProgram, findProgram } from "./debian-programs.ts";
import {
  directoryOfNobody,
  freePort,
  NOBODY,
  removeDirectory,
  ServerProcess,
} from "./server-process.ts";

const run = promisify(execFile);
const START_TRIES_MAX = 100;
const START_PAUSE_MS = 100;

/** A PostgreSQL of a test's own, on a port of this machine. */
export class PostgresServer implements AsyncDisposable {
  static readonly password = "s3cret/with?marks";
  readonly port: number;
  readonly #program: DebianProgram;
  readonly #directory = directoryOfNobody();
  readonly #data: string;
  readonly #process = new ServerProcess();

  private constructor(program: DebianProgram, parent: string | undefined, port: number) {
    this.#program = program;
    this.#data = path.join(parent ?? this.#directory, "data");
    this.port = port;
  }

  /** @param parent  where its tables are to be, its log apart. @defaultValue a directory of its own */
  static async open(parent?: string): Promise<PostgresServer> {
    const program = await findProgram("postgresql", ["usr/lib/postgresql/*/bin/postgres"]);
    const server = new PostgresServer(program, parent, await freePort());
    try {
      await server.#initialize();
      await server.start();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  address(options: { password?: string; port?: number } = {}): string {
    const { password = PostgresServer.password, port = this.port } = options;
    return `postgresql://nobody:${encodeURIComponent(password)}@127.0.0.1:${port}/postgres`;
  }

  async start(): Promise<void> {
    const argv = [this.#program.path, "-D", this.#data] as const;
    for (let triesLeft = START_TRIES_MAX; ; triesLeft -= 1) {
      try {
        await this.#process.start([...argv], this.#program.env, () => this.#answers());
        return;
      } catch (error) {
        // Processes that worked for one that was killed take a moment to notice.
        const isHeld = /pre-existing shared memory|lock file/.test(String(error));
        if (!isHeld || triesLeft === 0) throw error;
        await delay(START_PAUSE_MS);
      }
    }
  }

  /** Kills it with SIGKILL; the processes that work for it end when they notice. */
  async kill(): Promise<void> {
    await this.#process.end("SIGKILL");
  }

  /** Ends it at once, with all processes that work for it. */
  async stop(): Promise<void> {
    await this.#process.end("SIGQUIT");
  }

  /** Does something in the database by itself. */
  async sql<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    const client = new Client({ connectionString: this.address() });
    await client.connect();
    try {
      return (await client.query(text, values)).rows as Row[];
    } finally {
      await client.end();
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.end("SIGQUIT");
    removeDirectory(this.#data);
    removeDirectory(this.#directory);
    this.#program[Symbol.dispose]();
  }

  async #initialize(): Promise<void> {
    const passwordFile = path.join(this.#directory, "password");
    writeFileSync(passwordFile, `${PostgresServer.password}\n`, { mode: 0o644 });
    const program = path.join(path.dirname(this.#program.path), "initdb");
    const words = ["--auth=scram-sha-256", `--pwfile=${passwordFile}`, "--encoding=UTF8"];
    const log = path.join(this.#directory, "log");
    const places = ["-D", this.#data, `--waldir=${log}`];
    await run(program, [...places, "-U", "nobody", "--locale=C", ...words], {
      env: this.#program.env,
      cwd: "/",
      uid: NOBODY,
      gid: NOBODY,
    });
    const settings = [
      "listen_addresses = '127.0.0.1'",
      `port = ${this.port}`,
      `unix_socket_directories = '${this.#directory}'`,
      "shared_buffers = '16MB'",
      "min_wal_size = '32MB'",
      "wal_writer_delay = '10s'",
      // What a server's administrator has set is no reason to lose what was answered.
      "synchronous_commit = off",
    ];
    writeFileSync(path.join(this.#data, "postgresql.auto.conf"), `${settings.join("\n")}\n`);
  }

  async #answers(): Promise<boolean> {
    try {
      await this.sql("SELECT 1");
      return true;
    } catch {
      return false;
    }
  }
}
