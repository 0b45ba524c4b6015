import { setTimeout as delay } from "node:timers/promises";
import { importClient } from "../remote/import-client.ts";
import {
  codeOf,
  type Failure,
  isLostNetwork,
  ServerCalls,
  secretsOf,
} from "../remote/server-calls.ts";

/** A client of the package `redis`, of one server or of a cluster. */
export interface RedisClient {
  withTypeMapping(mapping: object): unknown;
}

export type RedisOptions = (
  | { /** An address such as `redis://user:password@host:6379/0`. */ url: string }
  | { /** One of the caller's own: connected, and closed by the caller. */ client: RedisClient }
) & {
  /** What all keys begin with. @defaultValue "waypoint" */
  prefix?: string;
};

type Bytes = Buffer | string;
interface Script {
  keys: Bytes[];
  arguments: Bytes[];
}

/** What is used of a client that answers with bytes. */
export interface RedisCommands {
  eval(script: string, call: Script): Promise<unknown>;
  evalSha(sha: string, call: Script): Promise<unknown>;
  exists(key: Bytes): Promise<number>;
  get(key: Bytes): Promise<Buffer | null>;
  hGet(key: Bytes, field: Bytes): Promise<Buffer | null>;
  hmGet(key: Bytes, fields: readonly Bytes[]): Promise<(Buffer | null)[]>;
  set(key: Bytes, value: Bytes, options: { NX: true }): Promise<unknown>;
  unlink(keys: Bytes[]): Promise<number>;
  zAdd(key: Bytes, member: { score: number; value: Bytes }): Promise<number>;
  zRange(
    key: Bytes,
    from: Bytes,
    to: Bytes,
    options: { BY: "LEX"; LIMIT: { offset: number; count: number } },
  ): Promise<Buffer[]>;
  zRem(key: Bytes, member: Bytes): Promise<number>;
  /** Clients of clusters have none of these. */
  configGet?(names: string[]): Promise<Record<string, Buffer | string>>;
}

/** A connection, and how to end it. */
export interface RedisConnection {
  commands: RedisCommands;
  calls: ServerCalls;
  close: () => Promise<void>;
}

const CONNECT_MS_MAX = 10_000;
const RECONNECT_MS_FIRST = 50;
const RECONNECT_MS_MAX = 2000;
const PING_INTERVAL_MS = 15_000;

/** The server starts, has changed its role, is busy, or moves what it has. */
const LOST_REPLY = /^(LOADING|READONLY|BUSY|TRYAGAIN|CLUSTERDOWN|MASTERDOWN|NOREPLICAS)\b/;
const LOST_ERRORS = [
  ...["SocketClosedUnexpectedlyError", "ClientOfflineError", "ConnectionTimeoutError"],
  ...["SocketTimeoutError", "DisconnectsClientError", "RootNodesUnavailableError"],
];
const UNREACHABLE_ERRORS = ["ClientClosedError", "TimeoutError", "MaxCommandRedirectionsError"];

/** Connects, and comes back by itself when the connection was lost later. */
export async function connectRedis(options: RedisOptions): Promise<RedisConnection> {
  const { createClient, RESP_TYPES } = await importClient("redis", () => import("redis"));
  const asBytes = (client: RedisClient) =>
    client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }) as RedisCommands;
  const secrets = "url" in options ? secretsOf(options.url) : [];
  const calls = new ServerCalls({ name: "Redis", secrets, failureOf });
  if ("client" in options) {
    return { commands: asBytes(options.client), calls, close: async () => {} };
  }

  let isOpen = false;
  const connect = async () => {
    const client = createClient({
      url: options.url,
      // Who asks is told, and asks again: nothing waits here without an end.
      disableOfflineQueue: true,
      pingInterval: PING_INTERVAL_MS,
      socket: {
        connectTimeout: CONNECT_MS_MAX,
        reconnectStrategy: (retries, cause) =>
          isOpen
            ? Math.min(RECONNECT_MS_MAX, RECONNECT_MS_FIRST * 2 ** Math.min(retries, 9))
            : cause,
      },
    });
    // Whoever asks next hears of it.
    client.on("error", () => {});
    try {
      await client.connect();
      return client;
    } catch (error) {
      if (client.isOpen) client.destroy();
      throw error;
    }
  };
  const client = await calls.call(connect);
  isOpen = true;
  const close = async () => {
    // What was asked is answered first, if the server still does.
    if (client.isReady) await Promise.race([client.close().catch(() => {}), delay(1000)]);
    if (client.isOpen) client.destroy();
  };
  return { commands: asBytes(client as RedisClient), calls, close };
}

function failureOf(error: unknown): Failure {
  if (!(error instanceof Error)) return "failed";
  if ("originalError" in error) return failureOf(error.originalError);
  const { name } = error.constructor;
  if (isLostNetwork(error) || LOST_ERRORS.includes(name)) return "lost";
  if (UNREACHABLE_ERRORS.includes(name) || codeOf(error) === "ENOTFOUND") return "unreachable";
  if (LOST_REPLY.test(error.message)) return "lost";
  return error.message.startsWith("OOM") ? "full" : "failed";
}
