import type { KeptBase } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { baseNotFound } from "../session/index.ts";
import { describeBases } from "./describe-base.ts";

/** Returns the bases that the store keeps, by name. */
export function listBases(engine: Engine): { bases: KeptBase[] } {
  return { bases: describeBases(engine) };
}

/**
 * Chooses the base of sessions for which none is given; `null` is the machine's own root.
 *
 * @throws BASE_NOT_FOUND | STORE_FULL
 */
export function setDefaultBase(name: string | null, engine: Engine): { bases: KeptBase[] } {
  if (name !== null && !engine.store.bases.has(name)) throw baseNotFound(name);
  engine.store.bases.setDefault(name);
  return listBases(engine);
}
