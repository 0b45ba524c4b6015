import path from "node:path";
import { fromText, isAtOrBelow, type RawPath } from "../../base/index.ts";
import type { SessionRow } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { RestoreParts } from "../../shared/protocol/index.ts";
import { type Moment, type MomentFiles, openMoment, requirePath } from "../moment/index.ts";
import type { Engine } from "../ports/index.ts";
import { shellDirectory } from "../story/index.ts";

/** The parts that were asked for, as they were typed. */
export interface AskedParts {
  only?: RestoreParts["only"] | undefined;
  paths: readonly string[];
  except: readonly string[];
}

/**
 * Returns the parts that were asked for, with whole paths: a relative one begins where the session's
 * shell is now. To name paths is to ask for files alone.
 *
 * @throws USAGE_INVALID  processes have no paths.
 */
export async function resolveParts(
  { only, paths, except }: AskedParts,
  session: SessionRow,
  engine: Engine,
): Promise<RestoreParts> {
  const hasPaths = paths.length + except.length > 0;
  if (only != null && only !== "files" && hasPaths) {
    const message = `Paths choose files alone, and nothing of --only ${only}.`;
    throw new WaypointError("USAGE_INVALID", message, {
      hint: "Leave out --path and --except, or put back files alone.",
    });
  }
  const isRelative = [...paths, ...except].some((each) => !each.startsWith("/"));
  const directory = isRelative ? await directoryOf(session, engine) : "/";
  const whole = (each: string) => path.posix.resolve(directory, each);
  return {
    only: hasPaths ? "files" : (only ?? null),
    paths: paths.map(whole),
    except: except.map(whole),
  };
}

/** Returns which paths belong to the parts. */
export function scopeOf({ paths, except }: RestoreParts): (rawPath: RawPath) => boolean {
  const [wanted, unwanted] = [paths.map(fromText), except.map(fromText)];
  return (rawPath) =>
    (wanted.length === 0 || wanted.some((each) => isAtOrBelow(rawPath, each))) &&
    !unwanted.some((each) => isAtOrBelow(rawPath, each));
}

/**
 * Makes sure that each path that was named is there now or was there then.
 *
 * @throws FILE_NOT_FOUND | FILE_REFUSED  it lies in a bind, which is never captured.
 */
export function requirePaths(
  { paths }: RestoreParts,
  moments: readonly { moment: Moment; files: MomentFiles }[],
): void {
  for (const named of paths) requirePath(named, moments);
}

async function directoryOf(session: SessionRow, engine: Engine): Promise<string> {
  await using moment = await openMoment({ session }, engine);
  return (await shellDirectory(moment, engine)) ?? "/";
}
