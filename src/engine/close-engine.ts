import { type Logger, withDeadline } from "../base/index.ts";
import type { SessionRow } from "../portable/model/index.ts";
import { WaypointError } from "../shared/errors/index.ts";
import { captureAllHeld, releaseHeld } from "./checkpoint/index.ts";
import type { Engine } from "./ports/index.ts";
import { cutShort, endInstance, workDirOf } from "./session/index.ts";

/** What hangs must not keep an engine from being released, nor the sessions that come after it. */
export const STEP_TIMEOUT_MS = 15_000;

/** Steps of an end: each is tried, whatever became of those before. */
class Steps {
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
      this.#logger.error(`the engine's end: ${what}`, error);
    }
  }
}

/**
 * Finishes the operations under way and ends all parts of an engine; the sessions live on.
 *
 * @param stepTimeoutMs  goes on without what takes longer. @defaultValue all is waited for
 */
export async function closeEngine(engine: Engine, stepTimeoutMs?: number): Promise<void> {
  const steps = new Steps(engine.logger, stepTimeoutMs);
  await steps.run("end what is under way", () => endUnderWay(engine));
  await steps.run("finish operations", () => engine.leases.idle());
  await steps.run("capture what is held", () => captureAllHeld(engine));
  await endMakers(steps, engine);
  await endBackground(steps, engine);
  engine.contacts.close();
  engine.agentStates[Symbol.dispose]();
  engine.approvals[Symbol.dispose]();
  engine.effects[Symbol.dispose]();
  engine.decisions[Symbol.dispose]();
  engine.catalog[Symbol.dispose]();
}

/**
 * Ends all sessions, whatever is under way in them, and gives back what the engine holds of the machine
 * but for its mounts. The engine is to be closed after that.
 *
 * @throws DEADLINE_EXCEEDED  processes of a session did not end; all else was done.
 */
export async function releaseEngine(engine: Engine): Promise<void> {
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
  await endMakers(steps, engine);
  await steps.run("end what no session is noted for", () => endStrays(engine));
  await endBackground(steps, engine);
  await steps.run("release the network", () => engine.network.releaseHost());
  for (const { id, name, instance } of running) {
    const pid = pids.get(id) ?? null;
    // Its row has no process any more when that has ended.
    if (pid !== null && engine.catalog.instance(instance ?? "")?.pid === pid) throw left(name, pid);
  }
}

/** Begins nothing by itself any more, and ends what only this engine can go on with. */
async function endUnderWay(engine: Engine): Promise<void> {
  engine.turns.open();
  await engine.automatic.close();
  await Promise.all([engine.verifier.close(), engine.verifications.stop()]);
  engine.approvalWaits.close();
  engine.baseChanges.close();
  await engine.browses.endAll();
}

async function endMakers(steps: Steps, engine: Engine): Promise<void> {
  await steps.run("end standbys", () => engine.standbys.close());
  await steps.run("end the copying of images", () => engine.memoryImages.close());
  await steps.run("give back warm memory", () => engine.warmMemory.close());
}

async function endBackground(steps: Steps, engine: Engine): Promise<void> {
  await steps.run("finish in the background", () => engine.background.idle());
  await steps.run("stop reading stories", () => engine.stories.stop());
  await steps.run("end the builder of stories", () => engine.storyBuilder.close());
  engine.settings.criu.loaded?.[Symbol.dispose]();
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
