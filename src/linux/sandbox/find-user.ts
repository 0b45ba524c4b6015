import { readFileSync } from "node:fs";
import { WaypointError } from "../../shared/errors/index.ts";
import { resolveInside } from "./resolve-inside.ts";

/** A user of a session, from its own /etc/passwd and /etc/group. */
export interface SessionUser {
  name: string;
  uid: number;
  gid: number;
  groups: number[];
  home: string;
}

const ROOT: SessionUser = { name: "root", uid: 0, gid: 0, groups: [0], home: "/root" };

/** Finds a user by name or number in a root filesystem. @throws USAGE_INVALID */
export function findUser(rootDir: string, wanted: string): SessionUser {
  const entries = readTable(rootDir, "/etc/passwd");
  const entry = entries.find(([name, , uid]) => name === wanted || uid === wanted);
  if (entry === undefined) {
    if (wanted === "root" || wanted === "0") return ROOT;
    throw new WaypointError("USAGE_INVALID", `The session has no user ${wanted}.`, {
      hint: "Its /etc/passwd lists the users; `root` is always there.",
    });
  }
  const [name = wanted, , uid = "0", gid = "0", , home = "/"] = entry;
  const groups = readTable(rootDir, "/etc/group")
    .filter(([, , , members = ""]) => members.split(",").includes(name))
    .map(([, , groupId]) => Number(groupId));
  return { name, uid: Number(uid), gid: Number(gid), groups: [Number(gid), ...groups], home };
}

/** Returns the name of a user of a root filesystem, or the number where it has none. */
export function userNames(rootDir: string): Map<number, string> {
  return new Map(
    readTable(rootDir, "/etc/passwd").map(([name = "", , uid]) => [Number(uid), name]),
  );
}

function readTable(rootDir: string, insidePath: string): string[][] {
  const hostPath = resolveInside(rootDir, insidePath);
  if (hostPath === null) return [];
  return readFileSync(hostPath, "utf8")
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith("#"))
    .map((line) => line.split(":"));
}
