import { type BaseRecord, baseRecordSchema } from "../../portable/model/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import type { Engine } from "../ports/index.ts";

/** A root filesystem that a session can stand on. */
export interface ChosenBase extends Disposable {
  /** As the session's row has it: the name of a base that the store keeps, or a directory. */
  base: string;
  directory: string;
  /** The store keeps it: nobody changes it, nor removes it until this is disposed of. */
  isKept: boolean;
}

/**
 * Returns what a new session stands on: a base that the store keeps, by its name; a directory, which has
 * a slash; where nothing is given the default, or else the machine's own root.
 *
 * @throws BASE_NOT_FOUND
 */
export function chooseBase(given: string | undefined, { store }: Engine): ChosenBase {
  const base = given ?? store.bases.defaultName() ?? "/";
  const directory = store.bases.directoryOf(base);
  if (base.includes("/")) return { base, directory, isKept: false, [Symbol.dispose]: () => {} };
  if (!store.bases.has(base)) throw baseNotFound(base);
  const held = store.bases.hold(base);
  return { base, directory, isKept: true, [Symbol.dispose]: () => held[Symbol.dispose]() };
}

/** Tells whether a base is the machine's own root, or a copy of it. */
export function isOfHost(base: string, { store }: Engine): boolean {
  return base === "/" || readBaseRecord(store.bases.recordOf(base))?.from === "/";
}

/** Returns what was noted of a base; `null` where that is lost or damaged. */
export function readBaseRecord(record: unknown): BaseRecord | null {
  return baseRecordSchema.safeParse(record).data ?? null;
}

export function baseNotFound(name: string): WaypointError {
  return new WaypointError("BASE_NOT_FOUND", `There is no base ${name}.`, {
    hint: `\`waypoint base ls\` lists them. A directory is given with a slash: ./${name}.`,
  });
}
