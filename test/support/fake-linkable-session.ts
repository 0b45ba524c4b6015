import { WaypointError } from "../../src/shared/errors/index.ts";
import type { LinkableSession } from "../../src/surfaces/langgraph/index.ts";

interface Moment {
  session: string;
  machine: string[];
  state: Record<string, unknown>;
  parent: string | null;
  intent: string;
}

/** All sessions and checkpoints of one fake Waypoint. */
export class FakeWorld {
  readonly sessions = new Map<string, FakeSession>();
  readonly moments = new Map<string, Moment>();
  /** What was asked of the sessions, such as `restore c2`. */
  readonly calls: string[] = [];
  /** The next call of this name fails once. */
  failing: string | null = null;

  new(): FakeSession {
    return new FakeSession(this, `s${this.sessions.size + 1}`);
  }

  note(call: string): void {
    this.calls.push(call);
    if (this.failing === null || !call.startsWith(this.failing)) return;
    this.failing = null;
    throw new WaypointError("STORE_FULL", `${call} has no room.`);
  }

  /** Returns a session. */
  readonly open = (id: string): Promise<FakeSession> => {
    const session = this.sessions.get(id);
    if (session !== undefined) return Promise.resolve(session);
    return Promise.reject(new WaypointError("SESSION_NOT_FOUND", `There is no session ${id}.`));
  };
}

/** A machine whose whole state is what was done on it. */
export class FakeSession implements LinkableSession {
  readonly id: string;
  readonly name: string;
  readonly #world: FakeWorld;
  machine: string[] = [];
  values: Record<string, unknown> = {};
  head: string | null = null;
  runs: "running" | "ended" = "running";
  pid = 1;

  constructor(world: FakeWorld, id: string) {
    this.#world = world;
    this.id = id;
    this.name = `name-of-${id}`;
    world.sessions.set(id, this);
  }

  /** Does something on the machine. */
  do(what: string): void {
    this.machine.push(what);
  }

  readonly state: LinkableSession["state"] = {
    keys: () => Promise.resolve({ version: JSON.stringify(this.values) }),
    get: (key) => Promise.resolve(this.values[key]),
    update: ({ set = {}, remove = [], ifVersion }) => {
      if (ifVersion !== undefined && ifVersion !== JSON.stringify(this.values)) {
        return Promise.reject(new WaypointError("STATE_CONFLICT", "The state was changed."));
      }
      const added = Object.entries(set).map(([key, { value }]) => [key, value] as const);
      const kept = Object.entries(this.values).filter(([key]) => !remove.includes(key));
      this.values = Object.fromEntries([...kept, ...added]);
      return Promise.resolve(undefined);
    },
  };

  info() {
    return Promise.resolve({ head: this.head, state: this.runs, pid: this.pid });
  }

  async checkpoint({ intent = "", ifChanged = false }: { intent?: string; ifChanged?: boolean }) {
    const head = this.#world.moments.get(this.head ?? "");
    const isSame =
      JSON.stringify([head?.machine, head?.state]) === JSON.stringify([this.machine, this.values]);
    if (ifChanged && isSame && this.head !== null) return { id: this.head };
    const id = `c${this.#world.moments.size + 1}`;
    this.#world.note(`checkpoint ${id}`);
    this.#world.moments.set(id, {
      ...{ session: this.id, machine: [...this.machine], state: this.values },
      ...{ parent: this.head, intent },
    });
    this.head = id;
    await Promise.resolve();
    return { id };
  }

  async restore(checkpoint: string, options: { only?: "machine"; withoutUndo?: boolean }) {
    const moment = this.#moment(checkpoint);
    this.#world.note(`restore ${checkpoint}${options.withoutUndo ? " without undo" : ""}`);
    this.machine = [...moment.machine];
    if (options.only === undefined) this.values = moment.state;
    this.head = checkpoint;
    this.runs = "running";
    this.pid += 1;
    await Promise.resolve();
  }

  async fork(checkpoint: string) {
    const moment = this.#moment(checkpoint);
    const fork = this.#world.new();
    this.#world.note(`fork ${checkpoint} as ${fork.id}`);
    Object.assign(fork, { machine: [...moment.machine], values: moment.state, head: checkpoint });
    await Promise.resolve();
    return [fork];
  }

  async show(checkpoint: string) {
    const moment = this.#moment(checkpoint);
    const before = this.#world.moments.get(moment.parent ?? "")?.machine ?? [];
    await Promise.resolve();
    const added = moment.machine.filter((what) => !before.includes(what));
    return { changes: { summary: added.map((what) => `+ ${what}`).join(", ") }, id: checkpoint };
  }

  #moment(checkpoint: string): Moment {
    const moment = this.#world.moments.get(checkpoint);
    if (moment !== undefined) return moment;
    throw new WaypointError("CHECKPOINT_NOT_FOUND", `There is no checkpoint ${checkpoint}.`);
  }
}
