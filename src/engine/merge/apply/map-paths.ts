import path from "node:path";
import { fromText, joinRaw, type RawPath, toText } from "../../../base/index.ts";
import type { CheckpointRow } from "../../../portable/model/index.ts";
import { WaypointError } from "../../../shared/errors/index.ts";
import type { OperationParsedInput } from "../../../shared/protocol/index.ts";
import type { TargetPath } from "../../changes/index.ts";
import { givenPath } from "../../files/index.ts";
import { isLiveBase } from "../../moment/index.ts";
import type { Engine } from "../../ports/index.ts";
import { readBaseRecord } from "../../session/index.ts";

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
 * Returns the mapping that was asked for: each path to itself in the session's base, or in what that is
 * a copy of, or what is in
 * the one path that was given to what is in the directory `to`.
 *
 * @throws USAGE_INVALID  a path is relative, or `to` comes with several paths.
 */
export function mapPaths(
  { paths, to }: Pick<OperationParsedInput<"apply">, "paths" | "to">,
  { base }: Pick<CheckpointRow, "base">,
  { store }: Pick<Engine, "store">,
): Mapping {
  const given = paths.map((each) => requireAbsolute(givenPath(each)));
  const under = given.length === 0 ? ["/"] : given;
  if (to === undefined) {
    const directory = fromText(placeOf(base, store));
    return mapBelow("/", { directory, isBase: isLiveBase(base), under });
  }
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

/** What a kept base is a copy of is written to, not the copy. @throws USAGE_INVALID */
function placeOf(base: string, { bases }: Engine["store"]): string {
  if (isLiveBase(base)) return base;
  const from = readBaseRecord(bases.recordOf(base))?.from;
  if (from !== undefined && bases.kindOf(from) === "tree") return from;
  throw new WaypointError("USAGE_INVALID", `The base ${base} is no directory of this machine.`, {
    hint: "Give one PATH of the session, and the directory for what is in it with --to.",
  });
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
