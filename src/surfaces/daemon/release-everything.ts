import { type Logger, withDeadline } from "../../base/index.ts";
import { releaseHeld } from "../../engine/checkpoint/index.ts";
import { cutShort, type EnginePorts, endInstance, workDirOf } from "../../engine/session/index.ts";
import type { SessionRow } from "../../portable/catalog/index.ts";
import { WaypointError } from "../../shared/errors/index.ts";
import { releaseNamespace } from "./enter-namespace.ts";

/** What hangs must not keep the daemon from ending, nor the sessions that come after it. */
export const STEP_TIMEOUT_MS = 15_000;

/** Steps of an end: each is tried, whatever became of those before. */
export class Steps {
  readonly #logger: Logger;
  readonly #timeoutMs: number | undefined;

  /** @param timeoutMs  goes on without a step that takes longer. @defaultValue waits for each */
  constructor(logger: Logger, timeoutMs?: number) {
    this.#logger = logger;
    this.#timeoutMs = timeoutMs;
  }

  async run(what: string, step: () => Promise<unknown>): Promise<void> {
    try {
      const work = step();
      await (this.#timeoutMs === undefined ? work : withDeadline(what, this.#timeoutMs, work));
    } catch (error) {
      this.#logger.error(`the daemon's end: ${what}`, error);
    }
  }
}

/** Begins nothing by itself any more, and ends what only this daemon can go on with. */
export async function endUnderWay(ports: EnginePorts): Promise<void> {
  await ports.automatic.close();
  await ports.verifications.stop();
  await ports.browses.endAll();
}

/**
 * Ends all sessions, whatever is under way in them, and gives back what this state directory holds
 * of the machine.
 *
 * @throws DEADLINE_EXCEEDED  processes of a session did not end; all else was done.
 */
export async function releaseEverything(ports: EnginePorts): Promise<void> {
  const steps = new Steps(ports.logger, STEP_TIMEOUT_MS);
  const running = ports.catalog.sessions().filter(({ state }) => state === "running");
  const pids = new Map(running.map((session) => [session.id, pidOf(session, ports)]));
  for (const session of running) cutShort(session, "stopped", ports);
  endRunsOfNobody(ports);
  await steps.run("end what is under way", () => endUnderWay(ports));
  await Promise.all(
    running.map((session) => steps.run("end a session", () => endSession(session, ports))),
  );
  await steps.run("end what is held", () => releaseHeld(ports));
  await steps.run("end standbys", () => ports.standbys.close());
  await steps.run("end the copying of images", () => ports.memoryImages.close());
  await steps.run("end what no session is noted for", () => endStrays(ports));
  await steps.run("finish in the background", () => ports.background.idle());
  await steps.run("stop reading stories", () => ports.stories.stop());
  await steps.run("end the builder of stories", () => ports.storyBuilder.close());
  await steps.run("release the network", () => ports.network.releaseHost());
  await steps.run("release the mounts", () => releaseNamespace(ports.settings.layout));
  for (const { id, name, instance } of running) {
    const pid = pids.get(id) ?? null;
    // Its row has no process any more when that has ended.
    if (pid !== null && ports.catalog.instance(instance ?? "")?.pid === pid) throw left(name, pid);
  }
}

/**
 * Ends trees that the catalog does not lead to: on a store that broke, a session may be noted as ended
 * while it lives, and what lives holds the store.
 */
async function endStrays({ sandbox, settings, logger }: EnginePorts): Promise<void> {
  for (const pid of sandbox.findInitsBelow(settings.layout.storeDir)) {
    logger.warn("a session that was not noted is ended", { pid });
    await sandbox.killTree(pid, sandbox.startTicks(pid) ?? 0);
  }
}

function pidOf({ instance }: SessionRow, { catalog }: EnginePorts): number | null {
  return instance === null ? null : (catalog.instance(instance)?.pid ?? null);
}

async function endSession({ id }: SessionRow, ports: EnginePorts): Promise<void> {
  await ports.leases.run(id, async () => {
    ports.catalog.updateSession(id, { state: "stopped" });
    const instance = ports.catalog.session(id)?.instance ?? null;
    if (instance !== null) await endInstance(instance, ports);
  });
}

/** Restores of forks and standbys that are being made: what is held is dumped yet. */
function endRunsOfNobody({ catalog, criu }: EnginePorts): void {
  const held = new Set(catalog.heldCheckpoints().map(({ heldBy }) => heldBy));
  const known = new Set(catalog.sessions().map(({ id }) => id));
  for (const { id, session } of catalog.instances()) {
    if (!known.has(session) && !held.has(id)) criu.endRuns(workDirOf(id));
  }
}

function left(name: string, pid: number): WaypointError {
  return new WaypointError(
    "DEADLINE_EXCEEDED",
    `Process ${pid} of session ${name} does not end; all else was ended.`,
    {
      hint: `It waits in the kernel, or a tracer outside the session holds it: \`cat /proc/${pid}/status\`.`,
      detail: { pid },
    },
  );
}
