import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { runCommand } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const CHECK = ["test", "-e", "/srv/good"];

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "work", net: "none" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

const waypoint = (...words: string[]) => runCommand(own.stateDir, words);
const isRunning = (mark: string) =>
  readdirSync("/proc").some((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, "utf8").includes(mark);
    } catch {
      return false;
    }
  });
const marks = async (...more: string[]) => {
  const { stdout } = await waypoint("log", "work", ...more);
  const lines = stdout.split("\n").filter((line) => line.includes("●"));
  return lines.map((line) => /[✓✗]/.exec(line)?.[0] ?? "-").join("");
};

test("--verify alone needs a command that was chosen, and says how to choose it", async () => {
  const { exitCode, stderr } = await waypoint("checkpoint", "work", "--verify");

  expect(exitCode).toBe(2);
  expect(stderr).toContain("waypoint verify --set work --");
  expect((await session.log()).checkpoints).toEqual([]);
});

test("a command that is chosen marks checkpoints, and the log's header names it", async () => {
  const chosen = await waypoint("verify", "--set", "work", "--", ...CHECK);
  expect(chosen.stdout).toBe("Session work is verified with test -e /srv/good\n");

  await session.exec("touch /srv/good; echo 1 > /srv/step");
  expect((await waypoint("checkpoint", "work", "--name", "one", "--verify")).exitCode).toBe(0);
  await session.exec("rm /srv/good; echo 2 > /srv/step");
  expect((await waypoint("checkpoint", "work", "--name", "two", "--verify")).exitCode).toBe(3);
  await session.exec("echo 3 > /srv/step");
  await waypoint("checkpoint", "work", "--name", "three", "--verify", "test -e /srv/step");

  expect(await marks()).toBe("✓✗-");
  const { stdout } = await waypoint("log", "work");
  expect(stdout.split("\n")[0]).toBe("work is verified with test -e /srv/good");
  // What another command said, with which the third was taken, marks it neither before nor after.
  expect((await waypoint("verify", "three")).exitCode).toBe(3);
  expect(await marks()).toBe("✓✗✗");
});

test("the log filters by its verdicts, or by those of another command", async () => {
  const named = async (...filter: string[]) => {
    const { stdout } = await waypoint("log", "work", ...filter, "--json");
    const { checkpoints } = JSON.parse(stdout) as { checkpoints: { name: string }[] };
    return checkpoints.map(({ name }) => name);
  };

  expect(await named("--verified", "failing")).toEqual(["two", "three"]);
  expect(await named("--verified", "passing", "--command", "test -e /srv/step")).toEqual(["three"]);
  expect(await named("--command", "test -e /srv/step")).toEqual(["three"]);
  expect(await named("--verified", "never", "--command", "make")).toHaveLength(3);
});

test("restore --last-good goes to the newest that passed, with the usual preview", async () => {
  const plan = await waypoint("restore", "work", "--last-good", "--dry-run");
  expect(plan.stdout).toContain("/srv/good");

  const { exitCode, stdout } = await waypoint("restore", "work", "--last-good", "--yes");

  expect(exitCode).toBe(0);
  expect(stdout).toContain("is back at one");
  expect((await session.exec("cat /srv/step; ls /srv/good")).stdout).toBe("1\n/srv/good\n");
  expect((await waypoint("restore", "work")).exitCode).toBe(2);
  expect((await waypoint("restore", "work", "one", "--last-good")).exitCode).toBe(2);
});

test("a verdict is forgotten for good, of one command alone or of all", async () => {
  const one = await waypoint("verify", "--forget", "three", "--", ...CHECK);
  expect(one.stdout).toBe("Forgot 1 verification.\n");
  expect(await marks("--command", "test -e /srv/step")).toContain("✓");

  await killDaemon(await own.daemonPid());
  const { exitCode, stderr } = await waypoint("restore", "work", "--last-good", "--dry-run");

  expect([exitCode, stderr]).toEqual([0, ""]); // one passed
  await waypoint("verify", "--forget", "one");
  const none = await waypoint("restore", "work", "--last-good", "--dry-run");
  expect(none.exitCode).toBe(10);
  expect(none.stderr).toContain("has passed a verification");
  expect((await own.waypoint.show("one")).verifications).toEqual([]);
});

test("a fork has it, it outlives the daemon, and it can be removed", async () => {
  const [fork] = await own.waypoint.fork("one", { name: "try" });
  await killDaemon(await own.daemonPid());

  await eventually(
    "the fork",
    () => fork.info(),
    ({ verifyCommand }) => verifyCommand === "test -e /srv/good",
  );
  expect((await waypoint("verify", "try@")).exitCode).toBe(0);
  const removed = await waypoint("verify", "--unset", "try");
  expect(removed.stdout).toBe("Session try has no verify command.\n");
  expect((await waypoint("verify", "--set", "try")).exitCode).toBe(2);
  expect((await fork.info()).verifyCommand).toBeNull();
});

test("automatic checkpoints are verified when nobody is at work, unless that is turned off", async () => {
  const quiet = await own.waypoint.new({ name: "quiet", net: "none", auto: "command" });
  const busy = await own.waypoint.new({ name: "busy", net: "none", auto: "command" });
  await waypoint("verify", "--set", "quiet", "--no-automatic", "--", ...CHECK);
  await waypoint("verify", "--set", "busy", "--", ...CHECK);
  const verdicts = async (of: Session) => {
    const { checkpoints } = await of.log();
    return checkpoints.map(({ verification }) => verification?.exitCode ?? null);
  };
  const runs = async (line: string) => {
    for (const of of [quiet, busy]) {
      const before = (await of.info()).head;
      await of.exec(line);
      await eventually(
        `a checkpoint`,
        async () => (await of.info()).head,
        (head) => head !== before,
      );
    }
  };

  await runs("touch /srv/good");
  await runs("rm /srv/good");

  expect(
    await eventually(
      "verdicts",
      () => verdicts(busy),
      (all) => !all.includes(null),
    ),
  ).toEqual([0, 1]);
  expect(await verdicts(quiet)).toEqual([null, null]);
  expect(await quiet.info()).toMatchObject({ verifyAutomatic: false });
});

test("a verification for which nobody waits stands while a command runs that somebody waits for", async () => {
  const busy = await own.waypoint.new({ name: "at-work", net: "none", auto: "hybrid" });
  const mark = `clock-${process.pid}`;
  const loop = "for i in $(seq 200); do date +%s%N; sleep 0.01; done";
  // Where the mark is seen in a command line, the first time has been told.
  const ticks = `date +%s%N; of=clock; sh -c '${loop}' $of-${process.pid}`;
  await busy.verifyWith(["sh", "-c", ticks]);
  await busy.exec("touch /srv/step");
  await eventually(
    "a verification",
    () => isRunning(mark),
    (runs) => runs,
  );

  await busy.exec("sleep 0.8");

  const { verifications } = await eventually(
    "a verdict",
    () => own.waypoint.show("at-work@"),
    (shown) => shown.verifications.length > 0,
  );
  const atMs =
    verifications[0]?.output
      .trim()
      .split("\n")
      .map((at) => Number(at) / 1e6) ?? [];
  const gapsMs = atMs.slice(1).map((at, index) => at - (atMs[index] ?? 0));
  expect(gapsMs).toHaveLength(200);
  expect(Math.max(...gapsMs)).toBeGreaterThan(500);
});
