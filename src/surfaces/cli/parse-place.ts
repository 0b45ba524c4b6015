import { readFileSync } from "node:fs";
import { WaypointError } from "../../shared/errors/index.ts";
import type { FilePlace } from "../client/index.ts";

/** What stands for bytes that are no UTF-8, once Node has read the command line. */
const REPLACEMENT = "\ufffd";

/**
 * Turns MOMENT:PATH, or a path of this machine, into a place. What has a slash before its first
 * colon, or no colon, is of this machine.
 */
export function parsePlace(text: string): FilePlace {
  const bytes = bytesOf(text);
  const colon = bytes.indexOf(":");
  const slash = bytes.indexOf("/");
  if (colon === -1 || (slash !== -1 && slash < colon)) return { path: bytes };
  return { moment: bytes.toString("utf8", 0, colon), path: bytes.subarray(colon + 1) };
}

/** Turns MOMENT:PATH into a place. @throws USAGE_INVALID  it has no moment. */
export function parseMomentPlace(text: string): FilePlace & { moment: string } {
  const { moment, path } = parsePlace(text);
  if (typeof moment === "string" && moment !== "") return { moment, path };
  throw new WaypointError("USAGE_INVALID", `${JSON.stringify(text)} names no moment.`, {
    hint: "Write MOMENT:PATH, for instance web@~1:/etc/hosts.",
  });
}

/** Names are bytes, and Node keeps text: the kernel still has what was typed. */
function bytesOf(text: string): Buffer {
  if (!text.includes(REPLACEMENT)) return Buffer.from(text, "utf8");
  const words = readFileSync("/proc/self/cmdline").toString("latin1").split("\0");
  const typed = words
    .map((word) => Buffer.from(word, "latin1"))
    .find((word) => word.toString("utf8") === text);
  return typed ?? Buffer.from(text, "utf8");
}
