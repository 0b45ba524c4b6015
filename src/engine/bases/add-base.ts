import path from "node:path";
import { knownStateDirs } from "../../base/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { KeptBase, OperationParsedInput } from "../../shared/protocol/index.ts";
import type { Engine, StreamClient } from "../ports/index.ts";
import { requireValidName } from "../session/index.ts";
import { describeBase } from "./describe-base.ts";

const ROOM_CHECK_MS = 500;

/**
 * Keeps a copy of a root filesystem in the store: of a directory, of what an archive holds, or of the
 * machine itself. What runs meanwhile may change files while they are copied.
 *
 * **On failure** nothing of it is left.
 *
 * @throws NAME_INVALID | NAME_IN_USE | BASE_INVALID | STORE_FULL | TOOL_FAILED | CANCELLED
 */
export async function addBase(
  { name, exclude, ...input }: OperationParsedInput<"base.add">,
  client: Pick<StreamClient, "cancelled" | "progress">,
  engine: Engine,
): Promise<KeptBase> {
  const { cancelled } = client;
  requireValidName(name);
  const from = path.resolve(input.from);
  const { bases, space } = engine.store;
  return await engine.leases.run(
    `base:${name}`,
    async () => {
      if (bases.has(name)) throw nameInUse(name);
      const source = sourceOf({ from, exclude }, engine);
      await space.requireRoom("keep a base");
      using filling = whileThereIsRoom(client, engine);
      const { signal } = filling;
      await bases.add(name, async (rootDir) => {
        try {
          if (source === "archive") await bases.unpack(from, rootDir, signal);
          else await bases.copy(treeOf({ from, exclude }, engine), rootDir, signal);
          engine.sandbox.checkBase(rootDir, null, { withLibraries: true });
          await bases.share(rootDir, signal);
          const sizeBytes = await bases.bytesOf(rootDir, signal);
          return { from, createdAt: new Date().toISOString(), sizeBytes };
        } catch (error) {
          signal.throwIfAborted();
          throw explain(error, { from, rootDir });
        }
      });
      return describeBase(name, engine);
    },
    cancelled,
  );
}

function nameInUse(name: string): WaypointError {
  return new WaypointError("NAME_IN_USE", `There is a base ${name} already.`, {
    hint: "Sessions and checkpoints may stand on it: give the new one another name.",
  });
}

type Source = Pick<OperationParsedInput<"base.add">, "from" | "exclude">;

/** @throws USAGE_INVALID | BASE_INVALID  it is neither, or lies in Waypoint's own state. */
function sourceOf(
  { from, exclude }: Source,
  { sandbox, settings, store }: Engine,
): "tree" | "archive" {
  const hidden = sandbox.findHidden(knownStateDirs(settings.layout.stateDir));
  sandbox.requireOutsideState(from, hidden);
  const kind = store.bases.kindOf(from);
  if (kind === "tree") return kind;
  if (kind === "archive" && exclude.length > 0) {
    throw new WaypointError("USAGE_INVALID", "Nothing can be left out of an archive.", {
      hint: "Unpack it, and give the directory.",
    });
  }
  if (kind === "archive") return kind;
  const what = kind === null ? "does not exist" : "is neither a directory nor a file";
  throw new WaypointError("BASE_INVALID", `${from} ${what}.`, {
    hint: "Give the directory of a root filesystem, or an archive of one.",
  });
}

/** Waypoint's own state is left out, too. */
function treeOf({ from, exclude }: Source, { sandbox, settings }: Engine) {
  const hidden = sandbox.findHidden(knownStateDirs(settings.layout.stateDir));
  const mountPoints = from === "/" ? sandbox.findHostMounts(hidden) : [];
  const states = [from, ...mountPoints].flatMap((directory) =>
    sandbox.hiddenBelow(directory, hidden).map((relative) => path.join(directory, relative)),
  );
  const others = exclude.map((at) => path.join(from, path.normalize(at)));
  return { sourceDir: from, mountPoints, without: [...others, ...states] };
}

/** Tells how much was copied. A base that does not fit ends before the sessions beside it have no room. */
function whileThereIsRoom(client: Pick<StreamClient, "cancelled" | "progress">, { store }: Engine) {
  const full = new AbortController();
  const { usedBytes } = store.space.usage();
  const look = () => {
    // What other sessions write meanwhile is in it, too.
    const done = Math.max(0, store.space.usage().usedBytes - usedBytes);
    client.progress({ done, total: null, unit: "bytes" });
    store.space.requireRoom("keep a base").catch((error: unknown) => full.abort(error));
  };
  look();
  const timer = setInterval(look, ROOM_CHECK_MS);
  return {
    signal: AbortSignal.any([client.cancelled, full.signal]),
    [Symbol.dispose]: () => clearInterval(timer),
  };
}

/** What was wrong is told of what was given, not of where it was copied to. */
function explain(error: unknown, { from, rootDir }: { from: string; rootDir: string }): unknown {
  if (!(error instanceof WaypointError)) return error;
  const told = (text: string) => text.replaceAll(rootDir, from);
  if (error.code === "BASE_INVALID") {
    const hint = error.hint === null ? {} : { hint: told(error.hint) };
    return new WaypointError("BASE_INVALID", told(error.message), {
      ...hint,
      detail: error.detail,
    });
  }
  if (error.code !== "TOOL_FAILED") return error;
  return new WaypointError("BASE_INVALID", `${from} could not be copied.`, {
    ...(error.hint === null ? {} : { hint: told(error.hint) }),
    cause: error,
  });
}
