import { readFile } from "node:fs/promises";
import { toBytes } from "../files/raw-path.ts";
import type { Moment } from "../moment.ts";
import { findMomentFile } from "../moment-file.ts";

/** What names users in every session; a larger file is taken for none. */
const PASSWD_PATH = "/etc/passwd";
const PASSWD_BYTES_MAX = 4 * 1024 * 1024;

/** Returns the names of users at a moment; none where they cannot be read. */
export async function readUserNames(moment: Moment): Promise<Map<number, string>> {
  try {
    using file = findMomentFile(moment, PASSWD_PATH);
    if (file === null || file.entry.sizeBytes > PASSWD_BYTES_MAX) return new Map();
    const text = await readFile(toBytes(file.entry.hostPath), "utf8");
    const lines = text.split("\n").map((line) => line.split(":"));
    const users = lines.filter(([name, , uid]) => name !== "" && uid !== undefined);
    return new Map(users.map(([name = "", , uid]) => [Number(uid), name]));
  } catch {
    return new Map(); // A number says who it was, too.
  }
}
