import { createRequire } from "node:module";
import path from "node:path";
import { DynamoDBClient, ListTablesCommand } from "@aws-sdk/client-dynamodb";
import { directoryOfNobody, freePort, removeDirectory, ServerProcess } from "./server-process.ts";

/** Makes no table wait: a real one takes seconds. */
const TABLE_MS = 10;

/** A local implementation of DynamoDB on a port of this machine, which keeps its tables in files. */
export class DynamoServer implements AsyncDisposable {
  static readonly credentials = { accessKeyId: "test", secretAccessKey: "s3cret" };
  readonly port: number;
  readonly #directory = directoryOfNobody();
  readonly #process = new ServerProcess();

  private constructor(port: number) {
    this.port = port;
  }

  static async open(): Promise<DynamoServer> {
    const server = new DynamoServer(await freePort());
    try {
      await server.start();
      return server;
    } catch (error) {
      await server[Symbol.asyncDispose]();
      throw error;
    }
  }

  address({ port = this.port } = {}) {
    const endpoint = `http://127.0.0.1:${port}`;
    return { region: "eu-west-1", endpoint, credentials: DynamoServer.credentials };
  }

  async start(): Promise<void> {
    const program = createRequire(import.meta.url).resolve("dynalite/cli.js");
    const words = ["--port", String(this.port), "--host", "127.0.0.1"];
    const tables = ["--path", path.join(this.#directory, "tables")];
    const waits = ["createTableMs", "deleteTableMs"].flatMap((name) => [
      `--${name}`,
      `${TABLE_MS}`,
    ]);
    // The project's files may be root's alone.
    const argv = [process.execPath, program, ...words, ...tables, ...waits] as const;
    await this.#process.start([...argv], process.env, () => this.#answers(), 0);
  }

  async kill(): Promise<void> {
    await this.#process.end("SIGKILL");
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#process.end("SIGKILL");
    removeDirectory(this.#directory);
  }

  async #answers(): Promise<boolean> {
    const client = new DynamoDBClient({ ...this.address(), maxAttempts: 1 });
    try {
      await client.send(new ListTablesCommand({}));
      return true;
    } catch {
      return false;
    } finally {
      client.destroy();
    }
  }
}
