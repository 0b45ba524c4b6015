import type { Caller } from "../../../shared/protocol/index.ts";
import { printable } from "./printable.ts";

/**
 * Returns who did something, for people: "root (sudo: alice, attached at /dev/pts/3)". What is in the
 * brackets are the client's own words.
 */
export function describeCaller(caller: Caller | null): string {
  if (caller === null) return "";
  const { uid, user, surface, sudoUser, tty } = caller;
  const name = user ?? (uid === null ? "somebody" : `user ${uid}`);
  const how = surface === "terminal" ? "attached" : surface;
  const place = [how, tty === null ? null : `at ${tty}`].filter((each) => each !== null).join(" ");
  const told = [sudoUser === null ? null : `sudo: ${sudoUser}`, place === "" ? null : place];
  const words = told.filter((each) => each !== null).join(", ");
  return printable(words === "" ? name : `${name} (${words})`);
}
