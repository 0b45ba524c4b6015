import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setImmediate as nextTurn } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { killDaemon } from "../support/crash-model.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web", net: "none", env: { HOME: "/none" } });
  const line =
    "mkdir -p /srv/app/inner; cd /srv; echo one > app/index.html; echo in > app/inner/deep";
  await session.exec(`${line}; echo linked > app/x; ln app/x app/y`);
  await session.checkpoint({ name: "green" });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

test("where one file cannot be replaced, all are as they were", async () => {
  const immutable = `/proc/${(await session.info()).pid}/root/srv/app/index.html`;
  await session.exec(
    "echo two > app/index.html; rm -r app/inner; echo changed > app/x; mkdir app/new",
  );
  const hash = "find /srv | sort | xargs stat -c '%n %a %s %h %F' | sha256sum";
  const before = (await session.exec(hash)).stdout;
  execFileSync("chattr", ["+i", immutable]);
  try {
    await expect(session.restore("green", { only: "files" })).rejects.toMatchObject({
      code: "FILE_FAILED",
      message: expect.stringContaining("all was put back"),
    });
  } finally {
    execFileSync("chattr", ["-i", immutable]);
  }

  expect((await session.exec(hash)).stdout).toBe(before);
  expect((await session.log()).operations.at(-1)?.detail?.state).toBe("interrupted");
  await session.restore("green", { only: "files" });
  expect((await own.waypoint.diff("green", "web")).files).toEqual([]);
});

test("a daemon killed in the middle leaves each file old or new, and says how to go on", async () => {
  const count = 1500;
  const write = (what: string) =>
    session.exec(
      `mkdir -p /srv/many; for i in {1..${count}}; do echo ${what} > /srv/many/$i; done`,
    );
  await write("old");
  await session.checkpoint({ name: "many" });
  await write("new");
  const { pid } = await session.info();
  const restoring = session.restore("many", { only: "files" }).catch((error: unknown) => error);
  const first = `/proc/${pid}/root/srv/many/1`;
  const deadlineMs = Date.now() + 60_000;
  // Each takes its place within microseconds: whoever asks the daemon comes too late.
  while (readFileSync(first, "utf8") !== "old\n" && Date.now() < deadlineMs) await nextTurn();
  await killDaemon(await own.daemonPid());
  expect(await restoring).toMatchObject({ code: "DAEMON_UNREACHABLE" });

  const seen = await session.exec(
    "cat /srv/many/* | sort | uniq -c; ls -A /srv/many | grep -v '^[0-9]'",
  );
  const { operations } = await session.log();
  const counts = [...seen.stdout.matchAll(/(\d+) (old|new)$/gm)].map(([, number]) =>
    Number(number),
  );

  expect(existsSync(first)).toBe(true);
  expect(counts).toHaveLength(2);
  expect(counts.reduce((sum, each) => sum + each, 0)).toBe(count);
  expect(seen.stdout).not.toContain(".waypoint-");
  expect(operations.at(-1)).toMatchObject({ kind: "restore", detail: { state: "interrupted" } });
  await session.undo();
  expect((await session.exec("cat /srv/many/* | sort -u")).stdout).toBe("new\n");
  await session.restore("many", { only: "files" });
  expect((await session.exec("cat /srv/many/* | sort -u")).stdout).toBe("old\n");
  expect(readdirSync(`/proc/${pid}/root/srv/many`)).toHaveLength(count);
});
