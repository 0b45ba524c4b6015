import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { runShellLine } from "../support/command-line.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let ours: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  ours = await own.waypoint.new({ name: "ours", net: "none" });
  const lines = [
    "mkdir -p /srv/m && cd /srv/m && for n in a b c d; do printf '%s\\n' $n 1 2 3 4 5 6 7 > $n; done",
    "head -c 3000 /dev/urandom > bin; echo gone > gone; echo kept > kept",
  ];
  await ours.exec(lines.join("; "));
  await ours.checkpoint({ name: "common" });
  await callOperation(own.stateDir, "fork", { checkpoint: "common", name: "theirs" });
  const theirs = await own.waypoint.session("theirs");
  await theirs.exec(
    "cd /srv/m; sed -i s/^1/ONE/ a; sed -i s/^7/theirs/ b; echo new > new; rm gone; echo x > bin; rm kept; chmod 750 d",
  );
  await theirs.checkpoint({ name: "their-work" });
  await ours.exec(
    "cd /srv/m; sed -i s/^6/SIX/ a; sed -i s/^7/ours/ b; head -c 100 /dev/urandom > bin; echo changed > kept; sha256sum bin > /srv/sum",
  );
  await ours.exec("exec 7</srv/m/a");
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

const read = async (line: string) => (await ours.exec(line)).stdout;

test("a branch's files come into a live session, conflicts as git leaves them", async () => {
  const dry = await callOperation(own.stateDir, "merge", {
    ...{ session: "ours", checkpoint: "their-work", dryRun: true },
  });
  expect(dry).toMatchObject({ isDone: false, before: null });
  expect(await read("cat /srv/m/a")).not.toContain("ONE");

  const { stdout, stderr, exitCode } = await runShellLine(own.stateDir, "$W merge ours their-work");

  expect(exitCode).toBe(1);
  expect(stdout).toContain("! /srv/m/b");
  expect(stderr).toMatch(/still has the old \/srv\/m\/a open/);
  expect(stderr).toMatch(/Undo point: [a-z0-9]{10}\. Take it back with `waypoint undo ours`/);
  expect(await read("cat /srv/m/a")).toBe("a\nONE\n2\n3\n4\n5\nSIX\n7\n");
  expect(await read("cat /srv/m/b")).toBe(
    "b\n1\n2\n3\n4\n5\n6\n<<<<<<< ours\nours\n=======\ntheirs\n>>>>>>> their-work\n",
  );
  expect(await read("cat /srv/m/new")).toBe("new\n");
  expect(await read("ls /srv/m")).toBe("a\nb\nbin\nc\nd\nkept\nnew\n");
  expect(await read("cd /srv/m; sha256sum -c --status /srv/sum && cat kept")).toBe("changed\n");
  expect(await read("stat -c %a /srv/m/d")).toBe("750\n");
});

test("its undo is a restore of the checkpoint that was taken first", async () => {
  const { operations } = await callOperation(own.stateDir, "log", { session: "ours" });
  const merged = operations.findLast(({ kind }) => kind === "merge");

  await callOperation(own.stateDir, "restore", {
    ...{ session: "ours", checkpoint: merged?.undo ?? "" },
  });

  expect(await read("cat /srv/m/a")).toBe("a\n1\n2\n3\n4\n5\nSIX\n7\n");
  expect(await read("ls -A /srv/m")).toBe("a\nb\nbin\nc\nd\ngone\nkept\n");
});

test("a checkpoint of another lineage is refused", async () => {
  const other = await own.waypoint.new({ name: "other", net: "none" });
  const { id } = await other.checkpoint();

  const request = own.waypoint.merge("ours", id);
  await expect(request).rejects.toMatchObject({ code: "LINEAGE_UNRELATED" });
});
