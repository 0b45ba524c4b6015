import path from "node:path";
import { type ConfigPlace, readConfigText, userFolder } from "./config-files.ts";
import { writeConfigFile } from "./edit-config.ts";

/** So many are remembered; the oldest is forgotten first. */
const ALLOWED_MAX = 400;

/**
 * Tells whether the user has allowed a directory's file to set all keys, with exactly this text.
 *
 * @throws CONFIG_INVALID  the list of what is allowed cannot be read.
 */
export function isAllowed(place: ConfigPlace, file: string, text: string): boolean {
  return readAllowed(place).includes(digestOf(file, text));
}

/** Allows a directory's file to set all keys, until it changes. Idempotent. */
export function allow(place: ConfigPlace, file: string, text: string): void {
  const digest = digestOf(file, text);
  const others = readAllowed(place).filter((each) => each !== digest);
  const kept = [...others, digest].slice(-ALLOWED_MAX);
  writeConfigFile(listOf(place), kept.map((each) => `${each}\n`).join(""));
}

function readAllowed(place: ConfigPlace): string[] {
  const text = readConfigText(listOf(place), { isForeign: false }) ?? "";
  return text.split("\n").filter((line) => line !== "");
}

function listOf(place: ConfigPlace): string {
  return path.join(userFolder(place), "allowed");
}

/** The place belongs to it: the same text elsewhere is somebody else's. */
function digestOf(file: string, text: string): string {
  // Loaded only here: it costs every start of the command line more than all the other modules.
  const { createHash } = process.getBuiltinModule("node:crypto");
  return createHash("sha256").update(`${file}\0${text}`).digest("hex");
}
