import { afterAll, beforeAll, expect, test } from "vitest";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { pythonHolder } from "./python-holder.ts";
import { Stage } from "./stage.ts";

const RESTORES = 100;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

test(`${RESTORES} restores of one checkpoint are right`, async () => {
  const server = pythonHolder(
    "server",
    "state = []\ndef see(): return str(state)\ndef change(mark): state.append(mark)\n",
  );
  const fresh = await own.waypoint.new();
  const stage = await Stage.fork(await fresh.checkpoint());
  await server.start(stage);
  await server.change(stage, "captured");
  await stage.session.exec("count=captured; cd /srv; sleep 100000 &");
  const checkpoint = await stage.session.checkpoint();

  const seen: string[] = [];
  for (let restore = 0; restore < RESTORES; restore += 1) {
    await server.change(stage, "lost");
    await stage.session.exec(`count=lost; kill %1; cd /; echo ${restore} > /srv/lost`);
    await stage.session.restore(checkpoint, { whileTyping: true });
    const shell = await stage.session.exec("echo $count $PWD $(jobs -r | wc -l); ls /srv");
    seen.push(`${await server.see(stage)} ${shell.stdout.trim()}`);
  }

  expect(seen).toHaveLength(RESTORES);
  expect(new Set(seen)).toEqual(new Set(["state ['captured'] captured /srv 1"]));
  await stage.remove();
  await fresh.remove({ force: true });
});
