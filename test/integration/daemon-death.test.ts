import { once } from "node:events";
import { readdirSync, readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { callOperation } from "../../src/surfaces/client/index.ts";
import { finished, runCommand, startCommand, WAYPOINT_COMMAND } from "../support/command-line.ts";
import { killDaemon } from "../support/crash-model.ts";
import { expectedHoldings, holdingsOf } from "../support/holdings.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

const CLIENTS = 10;
const PROGRAM_ENDLESS =
  "while :; do count=$((count + 1)); echo $count > /root/count; sleep 0.01; done";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function crash(): Promise<void> {
  await killDaemon(await own.daemonPid());
}

async function counted(): Promise<number> {
  return Number((await session.exec("cat /root/count", { shell: "own" })).stdout);
}

/** Returns the processes of this state directory's daemons. */
function daemonPids(): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => partsOf(pid, "cmdline").some((part) => part.endsWith("daemon.mjs")))
    .filter((pid) => partsOf(pid, "environ").includes(`WAYPOINT_DIR=${own.stateDir}`))
    .map(Number);
}

function partsOf(pid: string, file: "cmdline" | "environ"): string[] {
  try {
    return readFileSync(`/proc/${pid}/${file}`, "utf8").split("\0");
  } catch {
    return []; // It ended while it was being read.
  }
}

test("sessions go on, and the next command finds them with all that they hold", async () => {
  await session.exec("cd /srv; export COLOR=blue; greet() { echo hello; }");
  await session.exec(`count=0; (${PROGRAM_ENDLESS}) &`);
  await eventually("the program to count", counted, (count) => count > 0);
  const before = await session.info();

  await crash();
  const { stdout } = await session.exec("pwd; echo $COLOR; greet; jobs -p | wc -l");

  expect(stdout).toBe("/srv\nblue\nhello\n1\n");
  expect(await session.info()).toMatchObject({ pid: before.pid, address: before.address });
  const countAfter = await counted();
  await eventually("the program to count on", counted, (count) => count > countAfter);
  await session.exec("kill %1; wait; cd /");
});

test("a command that ran meanwhile goes on; whoever waited for it is told", async () => {
  await session.exec("mkfifo /root/gate");
  const line = "echo started; read -r word < /root/gate; echo $word > /root/word";
  const child = startCommand(own.stateDir, ["exec", "web", "--", line]);
  const ended = finished(child);
  await once(child.stdout as NonNullable<typeof child.stdout>, "data");

  await crash();
  const { stderr, exitCode } = await ended;
  await session.exec("echo opened > /root/gate", { shell: "own" });

  expect(exitCode).toBe(125);
  expect(stderr).toContain("The sessions live on");
  expect((await session.exec("cat /root/word")).stdout).toBe("opened\n");
});

test("a command that printed more than is kept is not held up by the loss of its reader", async () => {
  const child = startCommand(own.stateDir, [
    "exec",
    "web",
    "--",
    "seq 1 3000000; touch /root/done",
  ]);
  const ended = finished(child);
  await once(child.stdout as NonNullable<typeof child.stdout>, "data");

  await crash();
  await ended;

  expect((await session.exec("ls /root/done")).stdout).toBe("/root/done\n");
});

test("an attached terminal connects again by itself, to the same screen", async () => {
  const line = `${WAYPOINT_COMMAND} --dir ${own.stateDir} attach web`;
  await using terminal = await Tmux.start(line);
  await terminal.shows(/# *$/m);
  await terminal.type("vim --clean /root/letter\r");
  await terminal.shows(/letter" \[New\]/);
  await terminal.type("iDear reader,");
  await terminal.shows(/^Dear reader,$/m);

  for (const words of [" one", " two"]) {
    await crash();
    await terminal.shows(/^Dear reader,( one)?$[\s\S]*-- INSERT --/m);
    await terminal.type(words);
    await terminal.shows(new RegExp(`${words}$`, "m"));
  }
  await terminal.type("\u001b:wq\r");
  await terminal.shows(/# *$/m);

  const { stdout } = await session.exec("cat /root/letter", { shell: "own" });
  expect(stdout).toBe("Dear reader, one two\n");
});

test(`${CLIENTS} clients that start the daemon at once all work, with one daemon`, async () => {
  for (let round = 0; round < 3; round += 1) {
    await crash();

    const answers = await Promise.all(
      Array.from({ length: CLIENTS }, (_, index) =>
        runCommand(own.stateDir, ["exec", "web", "--shell", "own", "--", "echo", String(index)]),
      ),
    );

    expect(answers).toEqual(
      answers.map((_, index) => ({ stdout: `${index}\n`, stderr: "", exitCode: 0 })),
    );
    expect(daemonPids()).toEqual([await own.daemonPid()]);
  }
});

test("a daemon that ends in good order leaves the sessions to the next one too", async () => {
  await session.exec("marker=kept");

  await callOperation(own.stateDir, "daemon.stop", {});

  expect((await session.exec("echo $marker")).stdout).toBe("kept\n");
});

test("a session that ends while no daemon runs is found ended, and nothing of it is left", async () => {
  const short = await own.waypoint.new();
  const { pid } = await short.info();
  await crash();

  process.kill(pid ?? 0, "SIGKILL");

  expect(await short.info()).toMatchObject({ state: "ended", pid: null });
  const { mounts, networks, inits } = holdingsOf(own.stateDir, await own.daemonPid());
  const { mounts: expected } = expectedHoldings(own.stateDir);
  expect([mounts, networks, inits]).toEqual([expected, expected, expected]);
  await short.remove();
});
