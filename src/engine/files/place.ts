import path from "node:path";
import { fromText, isAtOrBelow, joinRaw, type RawPath, toText } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Place } from "../../shared/protocol/index.ts";
import { isLiveBase, type Moment, type MomentFiles, type TreeEntry } from "../moment/index.ts";
import type { Engine } from "../ports/index.ts";
import { shellDirectory } from "../story/index.ts";

/** Something that is there at a moment. */
export interface FoundEntry {
  /** Its path without links in it, but for the last name where that is not followed. */
  rawPath: RawPath;
  entry: TreeEntry;
}

/** Returns the bytes of a path as it was given. @throws USAGE_INVALID  no path can be like this. */
export function givenPath({ path: text, pathBase64 }: Place): RawPath {
  const given =
    pathBase64 === undefined
      ? fromText(text)
      : Buffer.from(pathBase64, "base64").toString("latin1");
  if (!given.includes("\0")) return given;
  throw new WaypointError("USAGE_INVALID", "A path cannot have the byte 0 in it.", {
    hint: "Every other byte is fine; the path of a place is text, or its bytes in base64.",
  });
}

/**
 * Returns the absolute path of a place at a moment; a relative one begins where the session's shell
 * was, or where it would start if that is not known. A slash at its end stays.
 */
export async function absolutePath(place: Place, moment: Moment, engine: Engine): Promise<RawPath> {
  const given = givenPath(place);
  if (given.startsWith("/")) return given;
  const directory = await shellDirectory(moment, engine);
  return joinRaw(fromText(directory ?? "/"), given);
}

/**
 * Finds what is at an absolute path of a moment. Links on the way are followed inside the moment,
 * never on this machine; the last one only if `followsLast`, or where a slash comes after it.
 *
 * @throws FILE_NOT_FOUND | FILE_REFUSED  it lies in a bind, which no moment holds.
 */
export function findEntry(
  files: MomentFiles,
  rawPath: RawPath,
  moment: Moment,
  { followsLast }: { followsLast: boolean },
): FoundEntry {
  refuseBinds(rawPath, moment);
  const last = rawPath.slice(rawPath.lastIndexOf("/") + 1);
  const mustFollow = followsLast || ["", ".", ".."].includes(last);
  const directory = mustFollow ? null : files.resolve(rawPath.slice(0, -last.length));
  const resolved = mustFollow
    ? files.resolve(rawPath)
    : directory === null
      ? null
      : joinRaw(directory, last);
  if (resolved !== null) refuseBinds(resolved, moment);
  const entry = resolved === null ? null : files.find(resolved);
  if (resolved === null) throw notFound(rawPath, moment, whyNot(files, rawPath));
  if (entry === null) throw notFound(rawPath, moment);
  const needsDirectory = last === "" || last === ".";
  if (needsDirectory && entry.directory === null) throw notFound(rawPath, moment);
  return { rawPath: resolved, entry };
}

/** Names a path in a message. */
export function shownPath(rawPath: RawPath): string {
  return toText(rawPath);
}

/** Says of a path that leads nowhere how far it came; nothing where only its last name is missing. */
function whyNot(files: MomentFiles, rawPath: RawPath): string {
  for (let slash = 0; slash !== -1; ) {
    const directory = files.resolve(rawPath.slice(0, slash) || "/") ?? "/";
    const nextSlash = rawPath.indexOf("/", slash + 1);
    const way = nextSlash === -1 ? rawPath : rawPath.slice(0, nextSlash);
    if (files.resolve(way) === null) {
      const isLink = files.find(joinRaw(directory, way.slice(slash + 1))) !== null;
      if (isLink) return `${shownPath(way)} is a link that leads to nothing. `;
      return way === rawPath ? "" : `There is no ${shownPath(way)}. `;
    }
    slash = nextSlash;
  }
  return "";
}

/** Of a live base's own files those of now are seen: one that is gone may have been there. */
function notFound(rawPath: RawPath, moment: Moment, reason = ""): WaypointError {
  const { name, checkpoint, origin } = moment;
  const isPast = checkpoint !== null && isLiveBase(origin.base);
  const lost = isPast ? "What its base has lost since then is not known. " : "";
  return new WaypointError("FILE_NOT_FOUND", `There is no ${shownPath(rawPath)} in ${name}.`, {
    hint: `${reason}${lost}\`waypoint browse ${name}\` shows what is there.`,
    detail: { moment: name, path: shownPath(rawPath) },
  });
}

function refuseBinds(rawPath: RawPath, { name, origin }: Moment): void {
  const plain = path.posix.normalize(rawPath);
  const bind = origin.binds.find(({ target }) => isAtOrBelow(plain, fromText(target)));
  if (bind === undefined) return;
  throw new WaypointError(
    "FILE_REFUSED",
    `${shownPath(plain)} is in a bind, which ${name} does not hold.`,
    {
      hint: `It is the directory ${bind.source} of the host; what is there is there as it is now.`,
      detail: { moment: name, source: bind.source, target: bind.target },
    },
  );
}
