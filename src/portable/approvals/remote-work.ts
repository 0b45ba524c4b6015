import { destinationsOf, isLoopback } from "./http-request.ts";

/** What a program of the cloud is told to do, where that changes something. */
const CLOUD_VERB =
  /^(?:create|delete|put|update|patch|terminate|start|stop|reboot|reset|run|invoke|modify|attach|detach|publish|send|deploy|remove|register|deregister|set|add|import|upload|restore|up)(?:-|$)/;
/** Statements that only read. */
const READS = /^[\s(]*(?:select|show|explain|with|values|table|describe|desc|\\[dl?conz]\S*)\b/i;
const WRITES =
  /\b(?:insert|update|delete|drop|truncate|alter|create|grant|revoke|merge|replace|call|do|copy|vacuum|reindex|refresh|into|lock|set)\b/i;
const REDIS_READS = new Set(
  (
    "get mget exists keys scan ttl pttl type strlen getrange llen lrange lindex hget hgetall hkeys hlen " +
    "hmget scard smembers sismember zcard zrange zscore info ping dbsize time memory --version"
  ).split(" "),
);
/** What looks at another machine and leaves it as it is, without anything that a shell obeys. */
const REMOTE_READS =
  /^(?:ls|cat|head|tail|grep|stat|df|du|ps|free|uptime|hostname|whoami|id|uname|date|pwd|true|which|echo|git (?:status|log|diff|show))(?: [^;&|<>`$()]*)?$/;
/** Options of ssh that take a value. */
const SSH_VALUED = /^-[BbcDEeFIiJLlmOopQRSWw]$/;
const DATABASES = new Set(["psql", "mysql", "mariadb", "pg_restore", "dropdb", "createdb"]);

/** Returns by which rule a program changes something on another machine, as its arguments say. */
export function remoteWork(program: string, words: readonly string[]): string | null {
  if (program === "scp" || program === "rsync") return copyOut(program, words);
  if (program === "sftp") return words.some((word) => /^-b/.test(word)) ? "sftp -b" : null;
  if (program === "ssh") return remoteCommand(words);
  if (DATABASES.has(program)) return databaseWork(program, words);
  if (program === "redis-cli") return redisWork(words);
  if (program === "mongosh" || program === "mongo") return mongoWork(program, words);
  if (program === "aws") return awsWork(words);
  return program === "gcloud" || program === "az" ? cloudWork(program, words) : null;
}

/** Copies whose last place is elsewhere. */
function copyOut(program: string, words: readonly string[]): string | null {
  if (words.some((word) => word === "--dry-run" || /^-[a-zA-Z]*n[a-zA-Z]*$/.test(word))) {
    if (program === "rsync") return null;
  }
  const places = words.filter((word) => !word.startsWith("-"));
  const [to = "", ...from] = places.toReversed();
  const isRemote = /^(?:rsync|scp):\/\//.test(to) || /^[^/]+:/.test(to);
  return isRemote && from.length > 0 && !isLocal(to) ? `${program} to another machine` : null;
}

function remoteCommand(words: readonly string[]): string | null {
  let at = 0;
  while (at < words.length && (words[at] ?? "").startsWith("-")) {
    at += SSH_VALUED.test(words[at] ?? "") ? 2 : 1;
  }
  const [host, ...command] = words.slice(at);
  if (host === undefined || command.length === 0 || isLocal(host)) return null;
  return REMOTE_READS.test(command.join(" ").trim()) ? null : "ssh with a command";
}

function databaseWork(program: string, words: readonly string[]): string | null {
  if (!isElsewhere(words, /^(?:-h|--host)$/, /^(?:-h|--host=)(.+)$/)) return null;
  const rule = `${program} on another machine`;
  if (program !== "psql" && program !== "mysql" && program !== "mariadb") return rule;
  if (words.some((word) => /^(?:-l|--list|--version|-V)$/.test(word))) return null;
  const isFlag = (word: string) => /^(?:-\w*[ce]|--command|--execute)$/.test(word);
  const told = words.flatMap((word, at) => {
    const joined = /^--(?:command|execute)=([\s\S]*)$/.exec(word)?.[1];
    return joined ?? (isFlag(word) ? (words[at + 1] ?? "") : []);
  });
  const isFile = words.some((word) => /^(?:-f.*|--file.*)$/.test(word));
  // Without a statement it reads its input, which is no part of the line.
  const isRead = told.length > 0 && told.every((sql) => READS.test(sql) && !WRITES.test(sql));
  return isRead && !isFile ? null : rule;
}

function redisWork(words: readonly string[]): string | null {
  if (!isElsewhere(words, /^-[hu]$/, /^-[hu](.+)$/)) return null;
  const verb = words.find((word, at) => {
    return !word.startsWith("-") && !/^-(?:h|u|p|a|n|-user|-pass)$/.test(words[at - 1] ?? "");
  });
  const isRead = verb !== undefined && REDIS_READS.has(verb.toLowerCase());
  return isRead ? null : "redis-cli on another machine";
}

function mongoWork(program: string, words: readonly string[]): string | null {
  const isTold = words.some((word) => /^--eval|^--file|\.js$/.test(word));
  const isFar = isElsewhere(words, /^--host$/, /^--host=(.+)$/);
  return isTold && isFar ? `${program} on another machine` : null;
}

function isElsewhere(words: readonly string[], flag: RegExp, joined: RegExp): boolean {
  const hosts = words.flatMap((word, at) => {
    if (flag.test(word)) return words[at + 1] ?? [];
    const url = /^[a-z][a-z+]*:\/\//i.test(word) ? destinationsOf(word) : [];
    const named = /(?:^|\s)host=(\S+)/.exec(word)?.[1];
    return [joined.exec(word)?.[1] ?? [], url, named ?? []].flat();
  });
  // A path is a socket of this machine.
  return hosts.some((host) => host !== "" && !host.startsWith("/") && !isLoopback(host));
}

function awsWork(words: readonly string[]): string | null {
  const [service, verb = "", ...places] = words.filter((word) => !word.startsWith("-"));
  if (service === "s3" && ["cp", "mv", "sync"].includes(verb)) {
    const [from = "", to = ""] = places;
    const isTaken = verb === "mv" && from.startsWith("s3://");
    return to.startsWith("s3://") || isTaken ? `aws s3 ${verb}` : null;
  }
  const isChange = service !== "configure" && service !== "sts" && CLOUD_VERB.test(verb);
  return isChange ? `aws ${service} ${verb}` : null;
}

function cloudWork(program: string, words: readonly string[]): string | null {
  const named = words.filter((word) => !word.startsWith("-"));
  if (named[0] === "config" || named[0] === "auth" || named[0] === "account") return null;
  const verb = named.slice(1).find((word) => CLOUD_VERB.test(word));
  return verb === undefined ? null : `${program} ${verb}`;
}

function isLocal(place: string): boolean {
  const hosts = destinationsOf(place);
  return hosts.length > 0 && hosts.every(isLoopback);
}
