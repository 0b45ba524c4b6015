import { readFileSync } from "node:fs";
import path from "node:path";
import process from "node:process";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** `WAYPOINT_RESTLESS_STEPS=2000` for many; `WAYPOINT_RESTLESS_SEED` for those of another run. */
const STEPS = Number(process.env["WAYPOINT_RESTLESS_STEPS"] ?? 24);
const SEED = Number(process.env["WAYPOINT_RESTLESS_SEED"] ?? 1);
const SESSIONS_MAX = 2;
const CHECKPOINTS_MAX = 12;
const SOURCES = path.resolve(import.meta.dirname, "../support/programs");

let own: TestWaypoint;

beforeAll(async () => {
  // Every program is followed, and every page of every dump compared with a second copy.
  process.env["WAYPOINT_TRACK_MEMORY"] = "0";
  process.env["WAYPOINT_COMPARE_MEMORY"] = "on";
  own = await openTestWaypoint();
});

afterAll(async () => {
  delete process.env["WAYPOINT_TRACK_MEMORY"];
  delete process.env["WAYPOINT_COMPARE_MEMORY"];
  await own?.[Symbol.asyncDispose]();
});

/** Random numbers that are the same for the same seed. */
function randomFrom(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}

async function start(session: Session, seed: number): Promise<void> {
  await session.exec(`gcc -O2 -pthread -o /root/restless ${SOURCES}/restless-*.c`);
  await session.exec(
    `cd /root && (setsid ./restless ${seed} 2 </dev/null >/dev/null 2>&1 & echo $! > /root/pid)`,
  );
  await session.exec("sleep 1");
}

/** Fails where the program has found a page that is not what it was, or has ended. */
async function requireUnharmed(session: Session): Promise<void> {
  const { stdout } = await session.exec(
    "cat /root/wrong 2>/dev/null; kill -0 $(cat /root/pid); echo alive $?",
  );
  expect(stdout.trim()).toBe("alive 0");
}

/** What each checkpoint copied in its pause, and all that its images hold. */
function copied(): { copiedBytes: number; of: number }[] {
  const log = readFileSync(path.join(own.stateDir, "daemon.log"), "utf8");
  return log
    .split("\n")
    .filter((line) => line.includes("memory copied in the pause"))
    .map((line) => JSON.parse(line) as { copiedBytes: number; of: number });
}

test(
  `${STEPS} random steps with programs that change their memory in every way`,
  async () => {
    const random = randomFrom(SEED);
    const sessions = [await own.waypoint.new({ name: "restless" })];
    await start(sessions[0] as Session, SEED);
    const checkpoints: { session: Session; id: string }[] = [];
    for (let step = 0; step < STEPS; step += 1) {
      const session = sessions[random(sessions.length)] as Session;
      const action = random(10);
      const known = checkpoints.filter((each) => each.session === session);
      const earlier = known[random(Math.max(1, known.length))];
      if (action === 0 && earlier !== undefined) {
        await session.restore(earlier.id);
      } else if (action === 1 && earlier !== undefined && sessions.length < SESSIONS_MAX) {
        sessions.push(...(await own.waypoint.fork(earlier.id)));
      } else {
        const { id } = await session.checkpoint();
        checkpoints.push({ session, id });
        const [old, ...kept] = checkpoints.length > CHECKPOINTS_MAX ? checkpoints : [];
        if (old !== undefined) {
          await own.waypoint.removeCheckpoints([old.id], { force: true });
          checkpoints.splice(0, checkpoints.length, ...kept);
        }
      }
      await requireUnharmed(session);
    }

    await eventually("pages that were not copied", copied, (all) =>
      all.some(({ copiedBytes, of }) => copiedBytes < of),
    );
  },
  120_000 + STEPS * 10_000,
);
