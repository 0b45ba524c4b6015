import { existsSync } from "node:fs";
import { type Session, type SessionInfo, type Waypoint, WaypointError } from "../../src/index.ts";
import { eventually } from "./test-waypoint.ts";

/** Long enough for a standby where one can be made; a session without a checkpoint has none. */
const READY_TIMEOUT_MS = 2_000;

/** What one step did: its name, and the variable COUNT that each session may have afterwards. */
export interface Step {
  what: string;
  run: () => Promise<unknown>;
}

/**
 * The sessions of a crash test and what must be true of each: the shell variable COUNT, which
 * lives in the memory of its shell, and which is also the intent of each checkpoint.
 */
export class CrashModel {
  readonly #waypoint: Waypoint;
  readonly #random: () => number;
  /** Values that COUNT may have, by session id; several while it is not known how far a step got. */
  readonly #counts = new Map<string, Set<string>>();
  /** The value of COUNT in each checkpoint that was looked at. */
  readonly #captured = new Map<string, string>();

  constructor(waypoint: Waypoint, random: () => number) {
    this.#waypoint = waypoint;
    this.#random = random;
  }

  /** Picks the next step; the daemon may die at any moment of it. */
  async next(): Promise<Step> {
    const sessions = await this.#running();
    const info = this.#pick(sessions);
    if (info === undefined) return this.#new();
    const session = await this.#waypoint.session(info.id);
    const steps = "exec checkpoint checkpoint restore restore fork undo new rm stop".split(" ");
    const kind = sessions.length > 5 ? "rm" : (this.#pick(steps) ?? "new");
    switch (kind) {
      case "checkpoint":
        return { what: kind, run: () => session.checkpoint({ intent: this.#only(info) }) };
      case "restore":
        return await this.#restore(session, info);
      case "undo":
        return await this.#undo(session, info);
      case "fork":
        return await this.#fork();
      case "rm":
        return { what: kind, run: () => session.remove({ force: true }) };
      case "stop":
        return { what: kind, run: () => session.stop() };
      case "exec":
        return this.#exec(session, info);
      default:
        return this.#new();
    }
  }

  /** The running sessions, of which there are always some to do something with. */
  async #running(): Promise<SessionInfo[]> {
    for (;;) {
      const sessions = await this.#waypoint.sessions();
      const running = sessions.filter(({ state }) => state === "running");
      if (running.length >= 2) return running;
      const session = await this.#waypoint.new();
      await session.exec("COUNT=0");
      this.#counts.set(session.id, new Set(["0"]));
    }
  }

  /** Checks that each running session answers with a state that it may have. */
  async checkSessions(): Promise<void> {
    for (const info of await this.#waypoint.sessions()) {
      if (info.state === "ended") throw new Error(`session ${info.name} ended by itself`);
      if (info.state !== "running") continue;
      const count = await this.#countOf(await this.#waypoint.session(info.id));
      const allowed = this.#counts.get(info.id) ?? this.#fresh(info);
      if (!allowed.has(count)) {
        throw new Error(`session ${info.name} counts ${count}, not ${[...allowed].join(" or ")}`);
      }
      this.#counts.set(info.id, new Set([count]));
    }
  }

  /** Checks that each checkpoint not looked at before can be forked and holds what it should. */
  async checkCheckpoints(): Promise<void> {
    const { checkpoints } = await this.#waypoint.log();
    for (const { id, intent, trigger } of checkpoints) {
      if (this.#captured.has(id)) continue;
      const [fork] = await this.#waypoint.fork(id);
      if (fork === undefined) throw new Error(`checkpoint ${id} has no fork`);
      const count = await this.#countOf(fork);
      if (trigger === "manual" && intent !== count) {
        throw new Error(`checkpoint ${id} of ${intent} holds ${count}`);
      }
      this.#captured.set(id, count);
      await fork.remove({ force: true });
    }
  }

  #new(): Step {
    return { what: "new", run: () => this.#waypoint.new() };
  }

  #exec(session: Session, info: SessionInfo): Step {
    const before = this.#only(info);
    const after = String(Number(before) + 1);
    this.#counts.set(info.id, new Set([before, after]));
    return { what: "exec", run: () => session.exec(`COUNT=${after}`) };
  }

  async #restore(session: Session, info: SessionInfo): Promise<Step> {
    const { checkpoints } = await session.log();
    const target =
      (await this.#readyTarget(session)) ??
      this.#pick(checkpoints.filter(({ content }) => content === "full"));
    if (target === undefined) {
      return { what: "checkpoint", run: () => session.checkpoint({ intent: this.#only(info) }) };
    }
    this.#counts.get(info.id)?.add(this.#captured.get(target.id) ?? "");
    return { what: "restore", run: () => session.restore(target.id) };
  }

  /** Returns a checkpoint that has a standby, where some are kept and one is there by and by. */
  async #readyTarget(session: Session): Promise<{ id: string } | undefined> {
    const { policy } = await session.standby();
    if (policy === "off" || this.#random() < 0.3) return undefined;
    const { ready } = await eventually(
      "a standby",
      () => session.standby(),
      (found) => found.ready.length > 0,
      READY_TIMEOUT_MS,
    ).catch(() => ({ ready: [] as string[] }));
    const id = this.#pick(ready);
    return id === undefined ? undefined : { id };
  }

  async #undo(session: Session, info: SessionInfo): Promise<Step> {
    const { operations } = await session.log();
    const last = operations.findLast(({ kind, undo }) => /restore|undo/.test(kind) && undo);
    const captured = this.#captured.get(last?.undo ?? "");
    if (captured !== undefined) this.#counts.get(info.id)?.add(captured);
    return { what: "undo", run: () => session.undo() };
  }

  async #fork(): Promise<Step> {
    const { checkpoints } = await this.#waypoint.log();
    const target = this.#pick(checkpoints);
    if (target === undefined) return this.#new();
    return { what: "fork", run: () => this.#waypoint.fork(target.id, { count: 2 }) };
  }

  #only(info: SessionInfo): string {
    const [count = ""] = this.#counts.get(info.id) ?? [];
    return count;
  }

  /** What a session may hold that nobody has looked at: nothing, or what its checkpoint holds. */
  #fresh(info: SessionInfo): Set<string> {
    if (info.forkedFrom === null) return new Set([""]);
    return new Set([this.#captured.get(info.forkedFrom) ?? ""]);
  }

  async #countOf(session: Session): Promise<string> {
    const { stdout, exitCode } = await session.exec("echo $COUNT", { timeoutMs: 20_000 });
    if (exitCode !== 0) throw new Error(`session ${session.name} answers with ${exitCode}`);
    return stdout.trim();
  }

  #pick<T>(choices: readonly T[]): T | undefined {
    return choices[Math.floor(this.#random() * choices.length)];
  }
}

/** Returns numbers from 0 to 1, the same ones for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296;
  };
}

/** Tells whether an operation failed because of its daemon's death, or could not be done anyway. */
export function isExpectedFailure(error: unknown): boolean {
  if (!(error instanceof WaypointError)) return false;
  return ["DAEMON_UNREACHABLE", "NOTHING_TO_UNDO"].includes(error.code);
}

/**
 * Kills a daemon and resolves when all of it is gone.
 *
 * Its socket takes connections until its last thread has ended, after the process is a zombie.
 */
export async function killDaemon(pid: number): Promise<void> {
  process.kill(pid, "SIGKILL");
  await eventually(
    "the end of the daemon",
    () => existsSync(`/proc/${pid}`),
    (isThere) => !isThere,
  );
}
