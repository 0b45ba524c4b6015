import { expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { openTestWaypoint } from "../support/test-waypoint.ts";

/** WAYPOINT_BRANCH_STEPS makes it longer, WAYPOINT_BRANCH_SEED another walk. */
const STEPS = Number(process.env["WAYPOINT_BRANCH_STEPS"] ?? 60);
const SEED = Number(process.env["WAYPOINT_BRANCH_SEED"] ?? 20_261_124);
const SESSIONS_MAX = 4;

/** What an agent knows at a moment. */
interface Known {
  conversation: string[];
  position: number | null;
  tasks: { id: string; status: string; attempts: number }[];
}

/** What a session's agent did outside, in its order: no restore takes it back. */
type Done = Map<string, number>;

/** What a moment has: the machine (one file that tells it), and what the agent knows. */
interface Moment {
  file: string;
  known: Known;
}

test.each(["off", "head"])(
  "after random steps each branch has what its own moments had, with standbys %s",
  async (policy) => {
    await using own = await openTestWaypoint({ standby: { policy } });
    const random = randomNumbers(SEED);
    const pick = <T>(items: readonly T[]): T => items[random(items.length)] as T;
    const first = await own.waypoint.new({ name: "b0", net: "none" });
    await first.exec("echo 0 > /srv/file");
    const now = new Map<Session, Moment>([[first, { file: "0", known: nothing() }]]);
    const captured = new Map<Session, { id: string; moment: Moment; by: Session }[]>([[first, []]]);
    const outside = new Map<Session, Done>([[first, new Map()]]);
    let names = 0;

    for (let step = 1; step <= STEPS; step += 1) {
      const session = pick([...now.keys()]);
      const moment = now.get(session) as Moment;
      const { known } = moment;
      const done = captured.get(session) ?? [];
      const does = random(10);
      if (does === 0) {
        await session.exec(`echo ${step} > /srv/file`);
        now.set(session, { ...moment, file: String(step) });
      } else if (does === 1) {
        await session.state.append("conversation", [`said ${step}`]);
        known.conversation.push(`said ${step}`);
      } else if (does === 2) {
        await session.state.set("position", step);
        known.position = step;
      } else if (does === 3) {
        const { id } = await session.tasks.add({ title: `task ${step}` });
        known.tasks.push({ id, status: "pending", attempts: 0 });
      } else if (does === 4) {
        const next = known.tasks.find(({ status }) => status !== "completed");
        expect((await session.tasks.begin())?.id).toBe(next?.id);
        if (next !== undefined)
          Object.assign(next, { status: "in-progress", attempts: next.attempts + 1 });
      } else if (does === 5) {
        const open = known.tasks.filter(({ status }) => status === "in-progress");
        if (open[0] !== undefined) {
          await session.tasks.set(open[0].id, { status: "completed" });
          open[0].status = "completed";
        }
      } else if (does === 6 || done.length === 0) {
        const checkpoint = await session.checkpoint();
        done.push({ id: checkpoint.id, moment: structuredClone(moment), by: session });
      } else if (does === 7 && now.size < SESSIONS_MAX) {
        const from = pick(done);
        names += 1;
        const effects = pick(["replay", "replay", "own"] as const);
        const [fork] = await own.waypoint.fork(from.id, { name: `b${names}`, effects });
        if (fork === undefined) throw new Error("no fork");
        now.set(fork, structuredClone(from.moment));
        captured.set(fork, [from]);
        outside.set(fork, new Map(effects === "replay" ? outside.get(from.by) : []));
      } else if (does === 8) {
        const key = `call-${random(STEPS / 10)}`;
        const known = outside.get(session) as Done;
        const expected = known.get(key) ?? step;
        expect(await session.effect(key, {}, async () => step)).toBe(expected);
        known.set(key, expected);
      } else {
        const target = pick(done);
        const only = pick([undefined, "machine", "state"] as const);
        await session.restore(target.id, only === undefined ? {} : { only });
        const back = structuredClone(target.moment);
        now.set(session, {
          file: only === "state" ? moment.file : back.file,
          known: only === "machine" ? known : back.known,
        });
      }
      for (const [each, expected] of now) {
        const where = `${each.name} at step ${step} of seed ${SEED}`;
        expect(await readNow(each), where).toEqual(expected);
        const effects = (await each.effects()).map(({ key, outcome }) => [key, outcome]);
        expect(effects, where).toEqual([...(outside.get(each) as Done)]);
      }
    }
  },
);

async function readNow(session: Session): Promise<Moment> {
  const { stdout } = await session.exec("cat /srv/file");
  const tasks = await session.tasks.list();
  return {
    file: stdout.trim(),
    known: {
      conversation: (await session.state.get<string[]>("conversation")) ?? [],
      position: (await session.state.get<number>("position")) ?? null,
      tasks: tasks.map(({ id, status, attempts }) => ({ id, status, attempts })),
    },
  };
}

function nothing(): Known {
  return { conversation: [], position: null, tasks: [] };
}

/** Numbers that are the same in each run: xorshift. */
function randomNumbers(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}
