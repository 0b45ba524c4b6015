import { Rollback } from "../../base/index.ts";
import type { CheckpointRow } from "../../portable/model/index.ts";
import type { Engine, ParkedInstance, StandbyPool, StandbyStatus } from "../ports/index.ts";
import { buildParkedInstance, callInit, enlistInstance, removeInstance } from "../session/index.ts";
import { findPressure } from "./find-pressure.ts";
import { wantedCheckpoints, wantsStandby } from "./wanted-checkpoints.ts";

/** A first command after an answer comes before the next standby is made. */
const REFRESH_DELAY_MS = 50;
/** How often to look for pressure and age: nobody tells of them. */
const LOOK_INTERVAL_MS = 2_000;
/** A clock inside goes on while it is parked, so no program sees more than this at once. */
const AGE_MAX_MS = 10 * 60_000;
/** Each has a network, a mount and a line to its init. */
const COUNT_MAX = 32;
/** As long as a timer can be; the age ends it long before. */
const CALL_TIMEOUT_MS = 2 ** 31 - 1;
/** What a restored tree needs beside its pages. */
const OVERHEAD_BYTES = 1024 * 1024;

/**
 * The parked instances of one daemon. Only one thing is made or ended at a time.
 *
 * What should be there follows from the catalog alone, so that whoever changes something only says
 * that it did ({@link refresh}).
 */
export class Standbys implements StandbyPool {
  readonly #engine: Engine;
  readonly #parked: ParkedInstance[] = [];
  /** Checkpoints that could not be parked once; they will not be tried again. */
  readonly #failed = new Set<string>();
  readonly #timer: NodeJS.Timeout;
  #refreshTimer: NodeJS.Timeout | undefined;
  #keeping: Promise<void> = Promise.resolve();
  #isClosed = false;
  #reason: string | null;

  constructor(engine: Engine) {
    this.#engine = engine;
    this.#reason = engine.freezer === null ? "this machine offers no freezer" : null;
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MS);
    this.#timer.unref();
  }

  take(checkpointId: string, origins: readonly ParkedInstance["origin"][]): ParkedInstance | null {
    const index = this.#parked.findIndex(
      (each) => each.checkpointId === checkpointId && origins.includes(each.origin),
    );
    return index === -1 ? null : (this.#parked.splice(index, 1)[0] ?? null);
  }

  has(checkpointId: string): boolean {
    return this.#parked.some((each) => each.checkpointId === checkpointId);
  }

  add(parked: ParkedInstance): void {
    this.#parked.push(parked);
    // One that ends by itself, for want of memory perhaps, is of no use.
    parked.link.catch(() => this.#drop(parked, "it ended"));
    this.refresh();
  }

  refresh(): void {
    if (this.#isClosed || this.#engine.freezer === null) return;
    this.#refreshTimer ??= setTimeout(() => {
      this.#refreshTimer = undefined;
      this.#keeping = this.#keeping
        .then(() => this.#keep())
        .catch((error: unknown) => {
          this.#engine.logger.error("keep standbys", error);
        });
    }, REFRESH_DELAY_MS);
  }

  status(): StandbyStatus {
    return { count: this.#parked.length, memoryBytes: this.#memoryBytes(), reason: this.#reason };
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    clearTimeout(this.#refreshTimer);
    await this.#keeping;
    for (const parked of [...this.#parked]) await this.#drop(parked, "the daemon ends");
  }

  /** Ends what is not wanted, and makes what is wanted and fits, in the order of its worth. */
  async #keep(): Promise<void> {
    this.#enlistSessions();
    const wanted = wantedCheckpoints(this.#engine).slice(0, COUNT_MAX);
    this.#reason = findPressure(this.#engine);
    await this.#dropUnwanted(this.#reason === null ? wanted : []);
    if (this.#reason !== null) return;
    let leftBytes = this.#engine.settings.standby.budgetBytes;
    for (const checkpoint of wanted) {
      if (this.#isClosed) return;
      const known = this.#parked.find(({ checkpointId }) => checkpointId === checkpoint.id);
      const neededBytes = known?.memoryBytes ?? checkpoint.memoryBytes + OVERHEAD_BYTES;
      leftBytes -= neededBytes;
      if (leftBytes >= 0 && known === undefined) await this.#park(checkpoint);
      if (leftBytes < 0) {
        if (known !== undefined) await this.#drop(known, "the budget is used up");
        leftBytes += neededBytes;
      }
    }
  }

  /** A session can be left at a restore only if it can be frozen at once. */
  #enlistSessions(): void {
    const { live, freezer, logger } = this.#engine;
    for (const instance of live.all()) {
      const { sessionId, instanceId } = instance;
      try {
        if (!wantsStandby(sessionId, this.#engine)) continue;
        if (freezer?.holds(instanceId) !== true) enlistInstance(instance, this.#engine);
      } catch (error) {
        // The others, and what is parked, are kept all the same.
        logger.warn("a session cannot be frozen", { sessionId, reason: String(error) });
      }
    }
  }

  async #dropUnwanted(wanted: readonly CheckpointRow[]): Promise<void> {
    const ids = new Set(wanted.map(({ id }) => id));
    const kept = new Set<string>();
    for (const parked of [...this.#parked]) {
      const { checkpointId, parkedAtMs } = parked;
      const isOld = performance.now() - parkedAtMs > AGE_MAX_MS;
      if (!ids.has(checkpointId)) await this.#drop(parked, "nobody needs it");
      else if (isOld) await this.#drop(parked, "it is old");
      else if (kept.has(checkpointId)) await this.#drop(parked, "there is another");
      else kept.add(checkpointId);
    }
  }

  async #park(checkpoint: CheckpointRow): Promise<void> {
    const { sandbox, newId, logger, turns } = this.#engine;
    if (this.#failed.has(checkpoint.id)) return;
    await turns.turn(performance.now());
    if (this.#isClosed) return;
    const sessionId = newId();
    const instanceId = `${sessionId}-1`;
    try {
      const built = await buildParkedInstance(sessionId, instanceId, checkpoint, this.#engine);
      await using rollback = new Rollback();
      rollback.defer("end the standby", () => removeInstance(instanceId, this.#engine));
      const memoryBytes = sandbox.treeMemoryBytes(built.pid);
      const link = callInit(built.pid, this.#engine, CALL_TIMEOUT_MS);
      const parked = { ...built, checkpointId: checkpoint.id, origin: "made", link } as const;
      this.add({ ...parked, memoryBytes, parkedAtMs: performance.now() });
      rollback.keep();
    } catch (error) {
      // A restore or fork that really asks for it will say what is wrong.
      this.#failed.add(checkpoint.id);
      logger.warn("no standby", { checkpoint: checkpoint.id, reason: String(error) });
    }
  }

  async #drop(parked: ParkedInstance, why: string): Promise<void> {
    const index = this.#parked.indexOf(parked);
    if (index === -1) return; // It was taken meanwhile.
    this.#parked.splice(index, 1);
    const { instanceId } = parked;
    this.#engine.logger.info("ending a standby", { instanceId, why });
    try {
      await removeInstance(instanceId, this.#engine);
    } catch (error) {
      this.#engine.logger.error("end a standby", error, { instanceId });
    }
  }

  #look(): void {
    const isOld = this.#parked.some(
      ({ parkedAtMs }) => performance.now() - parkedAtMs > AGE_MAX_MS,
    );
    if (isOld || findPressure(this.#engine) !== this.#reason) this.refresh();
  }

  #memoryBytes(): number {
    return this.#parked.reduce((sum, { memoryBytes }) => sum + memoryBytes, 0);
  }
}
