import { z } from "zod";
import type { SessionRow } from "../../portable/catalog/index.ts";
import type { Engine } from "../ports/index.ts";

const sessionSchema = z.object({
  id: z.string(),
  name: z.string(),
  state: z.enum(["running", "stopped", "ended"]),
  base: z.string(),
  net: z.enum(["nat", "none", "host"]),
  user: z.string(),
  cwd: z.string(),
  binds: z
    .array(z.object({ source: z.string(), target: z.string(), readOnly: z.boolean() }))
    .default([]),
  hostMounts: z.array(z.string()).default([]),
  createdAt: z.string(),
  head: z.string().nullable(),
  forkedFrom: z.string().nullable(),
  instance: z.string().nullable(),
  instanceCount: z.number(),
  shell: z.string().nullable().default(null),
  memoryLimitBytes: z.number().nullable().default(null),
  cpuLimit: z.number().nullable().default(null),
  pidsLimit: z.number().nullable().default(null),
  diskLimitBytes: z.number().nullable().default(null),
  standby: z.string().nullable().default(null),
  auto: z.string().nullable().default(null),
  autoPausedAt: z.string().nullable().default(null),
  autoFailure: z.string().nullable().default(null),
  autoFailedAt: z.string().nullable().default(null),
});

/**
 * Makes the rows of all sessions again from what the store holds, after the loss of the catalog.
 *
 * With a catalog that was there, a file of a session that it does not know is what a removal left.
 */
export function rebuildSessions(engine: Engine): void {
  const { catalog, store, logger } = engine;
  for (const written of store.sessions.readAll()) {
    const parsed = sessionSchema.safeParse(written);
    if (!parsed.success) {
      logger.warn("a session's file cannot be read", { reason: parsed.error.message });
      continue;
    }
    const session: SessionRow = parsed.data;
    if (catalog.session(session.id) !== undefined) continue;
    if (catalog.isNew) rebuildSession(session, engine);
    else store.sessions.write(session.id, null);
  }
}

function rebuildSession(session: SessionRow, engine: Engine): void {
  const { catalog, store, sandbox, logger } = engine;
  logger.warn("a session was found without its row", { session: session.name });
  catalog.insertSession(session);
  if (session.instance === null) return;
  const { upperDir } = store.instancePaths(session.instance);
  const pid = sandbox.findInitsByUpper(upperDir)[0] ?? null;
  catalog.insertInstance({
    id: session.instance,
    session: session.id,
    pid,
    startTicks: pid === null ? null : sandbox.startTicks(pid),
    address: null,
    fillingFrom: null,
  });
}
