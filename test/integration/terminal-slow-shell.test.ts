import { readFileSync } from "node:fs";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, test } from "vitest";
import { keepBusy } from "../support/keep-busy.ts";
import { Driver, until } from "../support/terminal/driver.ts";

/** After 1.5 s without an answer init asks again, at most three times. */
const STOPPED_MS = [1480, 1600, 2100, 3300, 4700];

const driver = new Driver();
beforeAll(() => driver.open());
afterAll(() => driver.close());

/** The shell as the host knows it: the only child of init. */
const shellPid = () => {
  const init = driver.sandbox.pid;
  const [pid = ""] = readFileSync(`/proc/${init}/task/${init}/children`, "utf8").split(" ");
  expect(readFileSync(`/proc/${pid}/comm`, "utf8")).toBe("bash\n");
  return Number(pid);
};

/** Only what is typed at its prompt can go unanswered. */
async function stopAtPrompt(shell: number): Promise<void> {
  await until(
    () => driver.stateOf(driver.shell),
    (state) => state.isAtPrompt,
  );
  process.kill(shell, "SIGSTOP");
}

/** Its output cannot be taken for the line that is shown as its command. */
const scriptOf = (number: number) => `echo out''-${number}`;

test("a shell that was stopped for a while is shown no key and keeps its key binding", async () => {
  const { endOffset } = await driver.stateOf(driver.shell);
  const shell = shellPid();

  for (const [number, stoppedMs] of STOPPED_MS.entries()) {
    await stopAtPrompt(shell);
    const outcome = driver.run(scriptOf(number));
    await delay(stoppedMs);
    process.kill(shell, "SIGCONT");
    expect(await outcome).toMatchObject({ stdout: `out-${number}\n`, exitCode: 0 });
  }

  await expectRight(endOffset, STOPPED_MS.length);
});

test("when all stood still for a while, the shell is given its time to answer", async () => {
  const { endOffset } = await driver.stateOf(driver.shell);
  const shell = shellPid();
  const busy = keepBusy(6);
  const rounds = 5;

  for (let number = 0; number < rounds; number += 1) {
    await stopAtPrompt(shell);
    const outcome = driver.run(scriptOf(number));
    await delay(100);
    process.kill(driver.sandbox.pid, "SIGSTOP");
    await delay(2000);
    process.kill(shell, "SIGCONT");
    process.kill(driver.sandbox.pid, "SIGCONT");
    expect(await outcome).toMatchObject({ stdout: `out-${number}\n`, exitCode: 0 });
  }

  busy.end();
  await expectRight(endOffset, rounds);
});

test("a shell that stays stopped is given up, and takes the next command when it goes on", async () => {
  const shell = shellPid();
  await stopAtPrompt(shell);

  expect(await driver.run("echo never")).toMatchObject({ reason: "refused", stdout: "" });

  process.kill(shell, "SIGCONT");
  expect(await driver.run("echo again")).toMatchObject({ stdout: "again\n", exitCode: 0 });
});

/** Each command and its output are shown as if it had been typed, and no key of init is. */
async function expectRight(offset: bigint, rounds: number): Promise<void> {
  const seen = await driver.shown(driver.shell, offset, `out-${rounds - 1}\r\n`);
  const shown = Array.from({ length: rounds }, (_, number) => ({
    command: seen.includes(`# ${scriptOf(number)}\r\n`),
    output: seen.includes(`\u001b[Jout-${number}\r\n`),
  }));

  expect(shown).toEqual(shown.map(() => ({ command: true, output: true })));
  expect(seen).not.toContain("7770~");
  // The bell rings for a key that a shell gets a second time.
  expect(seen).not.toContain("\u0007");
}
