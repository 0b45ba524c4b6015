import type { Moment } from "../../moment/index.ts";
import { MomentFiles } from "../../moment/index.ts";

/** What names users in every session; a larger file is taken for none. */
const PASSWD_PATH = "/etc/passwd";
const PASSWD_BYTES_MAX = 4 * 1024 * 1024;

/** Returns the names of users at a moment; none where they cannot be read. */
export async function readUserNames(moment: Moment): Promise<Map<number, string>> {
  try {
    using files = new MomentFiles(moment);
    const text = await files.read(PASSWD_PATH, PASSWD_BYTES_MAX);
    if (text === null) return new Map();
    const lines = text
      .toString("utf8")
      .split("\n")
      .map((line) => line.split(":"));
    const users = lines.filter(([name, , uid]) => name !== "" && uid !== undefined);
    return new Map(users.map(([name = "", , uid]) => [Number(uid), name]));
  } catch {
    return new Map(); // A number says who it was, too.
  }
}
