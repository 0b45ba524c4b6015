import { type Logger, withDeadline } from "../../base/index.ts";
import { releaseHeld } from "../../engine/checkpoint/index.ts";
import type { Engine } from "../../engine/ports/index.ts";
import { cutShort, endInstance, workDirOf } from "../../engine/session/index.ts";
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
export async function endUnderWay(engine: Engine): Promise<void> {
  await engine.automatic.close();
  await engine.verifications.stop();
  await engine.browses.endAll();
}

/**
 * Ends all sessions, whatever is under way in them, and gives back what this state directory holds
 * of the machine.
 *
 * @throws DEADLINE_EXCEEDED  processes of a session did not end; all else was done.
 */
export async function releaseEverything(engine: Engine): Promise<void> {
  const steps = new Steps(engine.logger, STEP_TIMEOUT_MS);
  const running = engine.catalog.sessions().filter(({ state }) => state === "running");
  const pids = new Map(running.map((session) => [session.id, pidOf(session, engine)]));
  for (const session of running) cutShort(session, "stopped", engine);
  endRunsOfNobody(engine);
  await steps.run("end what is under way", () => endUnderWay(engine));
  await Promise.all(
    running.map((session) => steps.run("end a session", () => endSession(session, engine))),
  );
  await steps.run("end what is held", () => releaseHeld(engine));
  await steps.run("end standbys", () => engine.standbys.close());
  await steps.run("end the copying of images", () => engine.memoryImages.close());
  await steps.run("end what no session is noted for", () => endStrays(engine));
  await steps.run("finish in the background", () => engine.background.idle());
  await steps.run("stop reading stories", () => engine.stories.stop());
  await steps.run("end the builder of stories", () => engine.storyBuilder.close());
  await steps.run("release the network", () => engine.network.releaseHost());
  await steps.run("release the mounts", () => releaseNamespace(engine.settings.layout));
  for (const { id, name, instance } of running) {
    const pid = pids.get(id) ?? null;
    // Its row has no process any more when that has ended.
    if (pid !== null && engine.catalog.instance(instance ?? "")?.pid === pid) throw left(name, pid);
  }
}

/**
 * Ends trees that the catalog does not lead to: on a store that broke, a session may be noted as ended
 * while it lives, and what lives holds the store.
 */
async function endStrays({ sandbox, settings, logger }: Engine): Promise<void> {
  for (const pid of sandbox.findInitsBelow(settings.layout.storeDir)) {
    logger.warn("a session that was not noted is ended", { pid });
    await sandbox.killTree(pid, sandbox.startTicks(pid) ?? 0);
  }
}

function pidOf({ instance }: SessionRow, { catalog }: Engine): number | null {
  return instance === null ? null : (catalog.instance(instance)?.pid ?? null);
}

async function endSession({ id }: SessionRow, engine: Engine): Promise<void> {
  await engine.leases.run(id, async () => {
    engine.catalog.updateSession(id, { state: "stopped" });
    const instance = engine.catalog.session(id)?.instance ?? null;
    if (instance !== null) await endInstance(instance, engine);
  });
}

/** Restores of forks and standbys that are being made: what is held is dumped yet. */
function endRunsOfNobody({ catalog, criu }: Engine): void {
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
