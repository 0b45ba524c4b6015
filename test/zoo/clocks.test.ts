import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { pythonHolder } from "./python-holder.ts";
import { Stage } from "./stage.ts";

/** How long the checkpoint lies before it is forked. */
const LYING_S = 7;
const TIMER_S = 5;

/** Clocks, and one timer of each kind that is due soon after the checkpoint. */
const CLOCKS = `
import ctypes, json, os, select, signal, struct, threading, time
libc, fired = ctypes.CDLL(None), []
def see(): return json.dumps({"wall": time.time(), "monotonic": time.monotonic(),
    "boottime": time.clock_gettime(time.CLOCK_BOOTTIME), "fired": sorted(fired)})
def poll(name, fd):
    select.select([fd], [], []); fired.append(name)
def change(_):
    signal.setitimer(signal.ITIMER_REAL, ${TIMER_S})
    threading.Timer(${TIMER_S}, fired.append, ["sleep"]).start()
    for name, clock in (("timerfd", 1), ("timerfd of the wall clock", 0)):
        fd = libc.timerfd_create(clock, 0)
        libc.timerfd_settime(fd, 0, struct.pack("qqqq", 0, 0, ${TIMER_S}, 0), None)
        threading.Thread(target=poll, args=(name, fd), daemon=True).start()
signal.signal(signal.SIGALRM, lambda *_: fired.append("alarm"))
`;

interface Clocks {
  wall: number;
  monotonic: number;
  boottime: number;
  fired: string[];
}

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

test("after a restore and in a fork the wall clock has moved on, the others have not, and timers fire", async () => {
  const program = pythonHolder("clocks", CLOCKS);
  const read = async (stage: Stage) => toClocks(await program.see(stage));
  const fresh = await own.waypoint.new();
  const original = await Stage.fork(await fresh.checkpoint());
  await program.start(original);
  await program.change(original, "timers");
  const before = await read(original);
  const checkpoint = await original.session.checkpoint();
  await delay(LYING_S * 1000);

  const fork = await Stage.fork(checkpoint);
  const forked = await read(fork);
  await original.session.restore(checkpoint, { whileTyping: true });
  const restored = await read(original);
  const states = [];
  for (const stage of [fork, original]) {
    states.push(
      await stage.sees(
        (each) => program.see(each),
        (state) => toClocks(state).fired.length === 4,
        "four timers",
      ),
    );
  }

  expect(before.fired).toEqual([]);
  for (const state of states) {
    expect(state).toContain('["alarm", "sleep", "timerfd", "timerfd of the wall clock"]');
  }
  for (const after of [forked, restored]) {
    const wallS = after.wall - before.wall;
    expect(wallS).toBeGreaterThanOrEqual(LYING_S);
    for (const clock of ["monotonic", "boottime"] as const) {
      const movedS = after[clock] - before[clock];
      expect(movedS).toBeGreaterThan(0);
      // What the checkpoint lay is not part of the program's time.
      expect(movedS).toBeLessThanOrEqual(wallS - LYING_S + 0.1);
    }
  }
  await fork.remove();
  await original.remove();
  await fresh.remove({ force: true });
});

function toClocks(state: string): Clocks {
  return JSON.parse(state.replace("state ", "")) as Clocks;
}
