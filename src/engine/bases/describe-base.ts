import type { KeptBase } from "../../shared/protocol/index.ts";
import type { Engine } from "../ports/index.ts";
import { baseNotFound, readBaseRecord } from "../session/index.ts";

/** @throws BASE_NOT_FOUND */
export function describeBase(name: string, engine: Engine): KeptBase {
  const found = describeBases(engine).find((base) => base.name === name);
  if (found === undefined) throw baseNotFound(name);
  return found;
}

/** Returns all bases, by name. */
export function describeBases({ store, catalog }: Engine): KeptBase[] {
  const defaultName = store.bases.defaultName();
  const [sessions, checkpoints] = [catalog.sessions(), catalog.checkpoints()];
  return store.bases.all().map(({ name, record }) => {
    const known = readBaseRecord(record);
    return {
      name,
      from: known?.from ?? null,
      createdAt: known?.createdAt ?? null,
      sizeBytes: known?.sizeBytes ?? null,
      isDefault: name === defaultName,
      sessions: sessions.filter(({ base }) => base === name).length,
      checkpoints: checkpoints.filter(({ base }) => base === name).length,
    };
  });
}
