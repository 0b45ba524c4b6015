import type { RedisConnection } from "./connect-redis.ts";

/**
 * What a server of Redis keeps of what it has answered: all of it (`each-write`), all but the last
 * second, or all but what the kernel has not written yet (`server-decides`). `none` is kept where
 * there is no append-only file, or where the server may evict keys. A server or a cluster that does
 * not tell is `unknown`.
 */
export type Durability = "each-write" | "each-second" | "server-decides" | "none" | "unknown";

const BY_FSYNC: Readonly<Record<string, Durability>> = {
  always: "each-write",
  everysec: "each-second",
  no: "server-decides",
};

/** Asks the server for its settings, which it may refuse to tell. */
export async function readDurability({ calls, commands }: RedisConnection): Promise<Durability> {
  const { configGet } = commands;
  if (configGet === undefined) return "unknown";
  const names = ["appendonly", "appendfsync", "maxmemory", "maxmemory-policy"];
  const answers = await calls.call(() =>
    // Some servers know no question for several.
    Promise.all(names.map((name) => commands.configGet?.([name]).catch(refused))),
  );
  const settings = new Map(answers.flatMap((each) => Object.entries(each ?? {})));
  const read = (name: string) => String(settings.get(name) ?? "");
  if (read("appendonly") === "") return "unknown";
  const mayEvict = read("maxmemory") !== "0" && read("maxmemory-policy").startsWith("allkeys");
  if (read("appendonly") !== "yes" || mayEvict) return "none";
  return BY_FSYNC[read("appendfsync")] ?? "unknown";
}

function refused(error: unknown): null {
  // A reply is a refusal; all else is lost, and asked again.
  if (error instanceof Error && /^[A-Z]+ /.test(error.message)) return null;
  throw error;
}
