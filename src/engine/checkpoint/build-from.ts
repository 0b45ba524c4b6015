import type { SessionRow } from "../../portable/model/index.ts";
import type { LiveInstance } from "../live/index.ts";
import type { Engine } from "../ports/index.ts";
import { buildFreshInstance, buildInstanceFrom, type InstanceSource } from "../session/index.ts";

const SHELL_DEFAULT = { env: {}, columns: 120, rows: 40 };

/** Builds an instance from a checkpoint: its processes, or a fresh shell on its files. */
export async function buildFrom(
  from: InstanceSource,
  session: SessionRow,
  instanceId: string,
  engine: Engine,
): Promise<LiveInstance> {
  const {
    checkpoint,
    eagerMemory: _a,
    touchedOnly: _b,
    filesFrom = checkpoint.id,
    ...choice
  } = from;
  if (checkpoint.content === "full")
    return await buildInstanceFrom(session, instanceId, from, engine);
  const shell = { ...SHELL_DEFAULT, filesFrom, ...choice };
  return await buildFreshInstance(session, instanceId, shell, engine);
}
