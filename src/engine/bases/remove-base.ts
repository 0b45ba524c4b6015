import { WaypointError } from "../../shared/errors/index.ts";
import type { KeptBase } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { describeBase } from "./describe-base.ts";

/**
 * Removes a base on which nothing stands; the default is the machine's own root then, if it was this one.
 *
 * @throws BASE_NOT_FOUND | BASE_IN_USE
 */
export async function removeBase(name: string, engine: Engine): Promise<KeptBase> {
  return await engine.leases.run(`base:${name}`, async () => {
    const base = describeBase(name, engine);
    const isHeld = engine.store.bases.isHeld(name);
    if (isHeld || base.sessions + base.checkpoints > 0) throw inUse(base);
    if (base.isDefault) engine.store.bases.setDefault(null);
    engine.store.bases.remove(name);
    return base;
  });
}

function inUse({ name, sessions, checkpoints }: KeptBase): WaypointError {
  const users = `sessions: ${sessions}, checkpoints: ${checkpoints}`;
  const message = `The base ${name} is in use (${users}).`;
  return new WaypointError("BASE_IN_USE", message, {
    hint: "Remove those first; `waypoint ls` and `waypoint log` tell which they are.",
    detail: { sessions, checkpoints },
  });
}
