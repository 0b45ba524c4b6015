import { randomUUID } from "node:crypto";
import { WaypointError } from "../../../shared/errors/index.ts";
import { checkChanges, threadBytes } from "../remote/check-write.ts";
import { keyRange } from "../remote/key-range.ts";
import type {
  Change,
  ScanOptions,
  ThreadRecord,
  ThreadRecords,
  WriteConditions,
  WriteResult,
} from "../thread-records.ts";
import { connectRedis, type RedisConnection, type RedisOptions } from "./connect-redis.ts";
import { type Durability, readDurability } from "./durability.ts";
import { ANSWERS, SCAN, type ServerScript, WRITE } from "./scripts.ts";

export type { Durability } from "./durability.ts";

const FORMAT = 1;
const READ_KEYS_MAX = 1000;

/** The keys of a thread; all in one slot of a cluster. */
interface ThreadKeys {
  values: string;
  order: string;
  facts: string;
}

/**
 * Records in Redis: of each thread a hash of values, the order of their keys and a few facts. A write
 * is one script, and so happens as a whole.
 *
 * It is as durable as the server makes it: see {@link RedisRecords.durability}.
 */
export class RedisRecords implements ThreadRecords {
  readonly #connection: RedisConnection;
  readonly #prefix: string;
  /** What the server keeps when it dies, or its machine does. */
  readonly durability: Durability;

  private constructor(connection: RedisConnection, prefix: string, durability: Durability) {
    this.#connection = connection;
    this.#prefix = prefix;
    this.durability = durability;
  }

  /**
   * Connects.
   *
   * @throws FORMAT_TOO_NEW  a newer Waypoint wrote below the prefix.
   * @throws USAGE_INVALID  the package `redis` is not installed, or the prefix has braces.
   * @throws STORE_UNREACHABLE, STORE_FULL, STORE_FAILED
   */
  static async open(options: RedisOptions): Promise<RedisRecords> {
    const prefix = options.prefix ?? "waypoint";
    if (/[{}]/.test(prefix)) {
      throw new WaypointError("USAGE_INVALID", "A prefix of keys in Redis cannot have braces.", {
        detail: { prefix: prefix.slice(0, 100) },
      });
    }
    const connection = await connectRedis(options);
    try {
      await checkFormat(connection, `${prefix}:format`);
      return new RedisRecords(connection, prefix, await readDurability(connection));
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  async write(
    thread: string,
    changes: readonly Change[],
    { requires = "", ifRevision }: WriteConditions = {},
  ): Promise<WriteResult> {
    checkChanges(changes);
    const keys = this.#keysOf(thread);
    const conditions = [randomUUID(), requires, ifRevision === undefined ? "" : String(ifRevision)];
    const words = changes.flatMap(({ key, value, mode = "replace" }) =>
      value === null ? ["remove", key, ""] : [mode, key, asBuffer(value)],
    );
    const write = (mayMake: boolean) =>
      this.#run(WRITE, Object.values(keys), [mayMake ? "1" : "0", ...conditions, ...words]);
    let [answer, ...kept] = await write(false);
    if (Number(answer) === ANSWERS.isNew) {
      // The index lies elsewhere in a cluster. Named before, the thread is never without a name; and
      // after, in case that somebody has deleted it in between.
      await this.#name(thread);
      [answer, ...kept] = await write(true);
      await this.#name(thread);
    }
    return { isDone: Number(answer) === ANSWERS.done, kept: kept.map(String) };
  }

  async read(thread: string, keys: readonly string[]): Promise<ReadonlyMap<string, Uint8Array>> {
    const { values } = this.#keysOf(thread);
    const found = new Map<string, Uint8Array>();
    for (let at = 0; at < keys.length; at += READ_KEYS_MAX) {
      const some = keys.slice(at, at + READ_KEYS_MAX);
      const answers = await this.#call((commands) => commands.hmGet(values, some));
      for (const [index, value] of answers.entries()) {
        if (value !== null) found.set(some[index] as string, value);
      }
    }
    return found;
  }

  async scan(thread: string, options: ScanOptions): Promise<readonly ThreadRecord[]> {
    const { values, order } = this.#keysOf(thread);
    const { from, isFromInside, below } = keyRange(options);
    const { isReverse = false, isKeysOnly = false, limit } = options;
    const ends = [`${isFromInside ? "[" : "("}${from}`, `(${below}`];
    const flags = [isReverse ? "1" : "0", String(limit), isKeysOnly ? "0" : "1"];
    const answer = await this.#run(SCAN, [values, order], [...ends, ...flags]);
    return Array.from({ length: answer.length / 2 }, (_, at) => {
      return { key: String(answer[2 * at]), value: answer[2 * at + 1] as Buffer };
    });
  }

  async revision(thread: string): Promise<number> {
    const { facts } = this.#keysOf(thread);
    return Number((await this.#call((commands) => commands.hGet(facts, "revision"))) ?? 0);
  }

  async threads({ after, limit }: { after?: string; limit: number }): Promise<readonly string[]> {
    const found: string[] = [];
    let from = after === undefined ? Buffer.from("-") : above(threadBytes(after));
    while (found.length < limit) {
      const count = limit - found.length;
      const names = await this.#call((commands) =>
        commands.zRange(this.#index, from, "+", { BY: "LEX", LIMIT: { offset: 0, count } }),
      );
      // One that was named and then not written is none.
      const isThere = await Promise.all(names.map((name) => this.#isThere(name.toString())));
      found.push(...names.map(String).filter((_, index) => isThere[index]));
      const last = names.at(-1);
      if (last === undefined || names.length < count) break;
      from = above(last);
    }
    return found;
  }

  async deleteThread(thread: string): Promise<void> {
    const keys = Object.values(this.#keysOf(thread));
    await this.#call((commands) => commands.unlink(keys));
    await this.#call((commands) => commands.zRem(this.#index, threadBytes(thread)));
    // Somebody may have written it anew in between.
    if (await this.#isThere(thread)) await this.#name(thread);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#connection.close();
  }

  get #index(): string {
    return `${this.#prefix}:threads`;
  }

  #keysOf(thread: string): ThreadKeys {
    threadBytes(thread);
    const tag = thread.replaceAll(/[%{}]/g, encodeURIComponent);
    const start = `${this.#prefix}:{t/${tag}}`;
    return { values: `${start}:values`, order: `${start}:order`, facts: `${start}:facts` };
  }

  async #name(thread: string): Promise<void> {
    const member = { score: 0, value: threadBytes(thread) };
    await this.#call((commands) => commands.zAdd(this.#index, member));
  }

  async #isThere(thread: string): Promise<boolean> {
    const { facts } = this.#keysOf(thread);
    return (await this.#call((commands) => commands.exists(facts))) > 0;
  }

  /** Runs a script by its name, or by its text where the server does not know it yet. */
  async #run(script: ServerScript, keys: string[], words: (string | Buffer)[]): Promise<unknown[]> {
    const call = { keys, arguments: words };
    return await this.#call(async (commands) => {
      try {
        return (await commands.evalSha(script.sha, call)) as unknown[];
      } catch (error) {
        if (!(error instanceof Error && error.message.startsWith("NOSCRIPT"))) throw error;
        return (await commands.eval(script.text, call)) as unknown[];
      }
    });
  }

  async #call<T>(work: (commands: RedisConnection["commands"]) => Promise<T>): Promise<T> {
    const { calls, commands } = this.#connection;
    return await calls.call(() => work(commands));
  }
}

/** @throws FORMAT_TOO_NEW */
async function checkFormat({ calls, commands }: RedisConnection, key: string): Promise<void> {
  await calls.call(() => commands.set(key, String(FORMAT), { NX: true }));
  const found = Number(await calls.call(() => commands.get(key)));
  if (found <= FORMAT) return;
  throw new WaypointError("FORMAT_TOO_NEW", "What is in Redis was written by a newer Waypoint.", {
    hint: "Install that version again, or use another prefix.",
    detail: { found, known: FORMAT },
  });
}

function above(name: Buffer): Buffer {
  return Buffer.concat([Buffer.from("("), name]);
}

function asBuffer(value: Uint8Array): Buffer {
  return Buffer.from(value.buffer, value.byteOffset, value.byteLength);
}
