import path from "node:path";
import { fromText, joinRaw, type RawPath, toText } from "../../../base/index.ts";
import type { CheckpointRow } from "../../../portable/model/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { OperationParsedInput } from "../../../shared/protocol/index.ts";
import type { TargetPath } from "../../changes/index.ts";
import { givenPath } from "../../files/index.ts";

/** How paths of the session and of the directory that is written to belong together. */
export interface Mapping {
  /** Directory of the machine that is written to. */
  directory: RawPath;
  /** It is what the session stands on. */
  isBase: boolean;
  /** Only what is at or below one of these paths of the session. */
  under: RawPath[];
  toTarget: (rawPath: RawPath) => TargetPath;
  toSession: (path: TargetPath) => RawPath;
}

/**
 * Returns the mapping that was asked for: each path to itself in the session's base, or what is in
 * the one path that was given to what is in the directory `to`.
 *
 * @throws USAGE_INVALID  a path is relative, or `to` comes with several paths.
 */
export function mapPaths(
  { paths, to }: Pick<OperationParsedInput<"apply">, "paths" | "to">,
  { base }: Pick<CheckpointRow, "base">,
): Mapping {
  const given = paths.map((each) => requireAbsolute(givenPath(each)));
  const under = given.length === 0 ? ["/"] : given;
  if (to === undefined) return mapBelow("/", { directory: fromText(base), isBase: true, under });
  if (under.length > 1) {
    throw new WaypointError(
      "USAGE_INVALID",
      "--to takes what is in one path, and there are several.",
      {
        hint: "Give one PATH, or apply one after the other.",
      },
    );
  }
  const [prefix = "/"] = under;
  return mapBelow(prefix, { directory: requireAbsolute(givenPath(to)), isBase: false, under });
}

function mapBelow(prefix: RawPath, rest: Pick<Mapping, "directory" | "isBase" | "under">): Mapping {
  const start = prefix === "/" ? 1 : prefix.length + 1;
  // A path that is a file is in the directory under its own name.
  const fileName = prefix.slice(prefix.lastIndexOf("/") + 1);
  return {
    ...rest,
    toTarget: (rawPath) => (rawPath === prefix ? fileName : rawPath.slice(start)),
    toSession: (target) => joinRaw(prefix, target),
  };
}

function requireAbsolute(rawPath: RawPath): RawPath {
  if (rawPath.startsWith("/")) {
    const normal = path.posix.normalize(rawPath);
    return normal.length > 1 && normal.endsWith("/") ? normal.slice(0, -1) : normal;
  }
  throw new WaypointError(
    "USAGE_INVALID",
    `${JSON.stringify(toText(rawPath))} is no absolute path.`,
    {
      hint: "Paths of the session are absolute, as `waypoint diff` prints them.",
    },
  );
}
