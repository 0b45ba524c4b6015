import { closeSync, readFileSync } from "node:fs";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { Owner } from "./copy-job.ts";
import type { Root } from "./root.ts";

const ID_MAX = 2 ** 32 - 2;

/**
 * Returns who `owner` is where files go: USER, UID, USER:GROUP or numbers. A user's own group is
 * taken if none is said, and that of a mere number is the same number.
 *
 * @throws USAGE_INVALID  there is no such user or group.
 */
export function findOwner(owner: string, root: Root): Owner {
  const [user = "", group, ...more] = owner.split(":");
  if (more.length > 0) throw unknown(owner);
  const row = readTable(root, "/etc/passwd").find(([name, , uid]) => name === user || uid === user);
  const uid = toId(row?.[2] ?? user);
  const groupRow =
    group === undefined
      ? undefined
      : readTable(root, "/etc/group").find(([name, , gid]) => name === group || gid === group);
  const gid = toId(group === undefined ? (row?.[3] ?? user) : (groupRow?.[2] ?? group));
  if (uid === null || gid === null) throw unknown(owner);
  return { uid, gid };
}

function toId(text: string): number | null {
  return /^\d{1,10}$/.test(text) && Number(text) <= ID_MAX ? Number(text) : null;
}

function unknown(owner: string): WaypointError {
  return new WaypointError("USAGE_INVALID", `There is no owner ${JSON.stringify(owner)} there.`, {
    hint: "Give a user of where the files go, or numbers, as in 1000:1000.",
  });
}

function readTable(root: Root, path: string): string[][] {
  const fd = root.file(path);
  if (fd === null) return [];
  try {
    const lines = readFileSync(fd, "utf8").split("\n");
    return lines.map((line) => line.split(":"));
  } finally {
    closeSync(fd);
  }
}
