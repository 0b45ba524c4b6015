import type { EnginePorts } from "../session/index.ts";

const QUEUE = "durable";

/**
 * Makes a checkpoint durable in the background: its images move into the store, which is synced.
 *
 * A failure is logged and tried again when the daemon starts; the checkpoint stays `captured`.
 */
export function scheduleDurable(checkpointId: string, ports: EnginePorts): void {
  void makeDurable(checkpointId, ports).catch((error: unknown) => {
    ports.logger.error("make durable", error, { checkpointId });
  });
}

/** Makes a checkpoint durable and resolves when it is. @throws STORE_FULL */
export async function makeDurable(checkpointId: string, ports: EnginePorts): Promise<void> {
  await ports.background.run(QUEUE, async () => {
    const row = ports.catalog.checkpoint(checkpointId);
    if (row === undefined || row.stage === "durable") return;
    await ports.store.makeDurable(checkpointId);
    ports.catalog.updateCheckpoint(checkpointId, { stage: "durable" });
    await trimMemory(ports);
  });
}

/** Removes checkpoints, after whatever is being made durable: both work in the same directories. */
export async function removeCheckpoints(ids: readonly string[], ports: EnginePorts): Promise<void> {
  for (const id of ids) ports.catalog.deleteCheckpoint(id);
  await ports.background.run(QUEUE, async () => {
    for (const id of ids) await ports.store.deleteCheckpoint(id);
  });
}

/** Frees the memory of old durable checkpoints until there is room for new ones. */
async function trimMemory(ports: EnginePorts): Promise<void> {
  for (const row of ports.catalog.checkpoints()) {
    if (ports.store.images.hasRoomToSpare()) return;
    if (row.stage !== "durable") continue;
    await ports.store.images.forget(ports.store.checkpointPaths(row.id));
  }
}
