import { createHash } from "node:crypto";
import { readdirSync, readlinkSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { InitLink } from "../../src/linux/terminal/index.ts";
import { Driver, until } from "../support/terminal/driver.ts";

const driver = new Driver();
beforeAll(() => driver.open());
afterAll(() => driver.close());

describe("a dump in between", () => {
  test("no byte of a printing command is lost or doubled, and calls made meanwhile wait", async () => {
    const lines = 200_000;
    const id = await driver.link.runInShell(driver.shell, `seq ${lines}; echo end >&2`, {
      shell: "bash",
      show: false,
    });
    const reader = driver.link.readCommand(id);
    const hash = createHash("sha256");
    let rounds = 0;
    const interrupting = (async () => {
      for (; rounds < 20; rounds += 1) {
        await driver.link.quiesce();
        const call = driver.link.list();
        expect(unixConnections()).toBe(0);
        await driver.link.resume();
        await call;
      }
    })();

    let sizeBytes = 0;
    for await (const { stream, bytes } of reader) {
      if (stream === "stdout") hash.update(bytes);
      sizeBytes += bytes.length;
      if (rounds < 20) await delay(1);
    }
    await interrupting;

    const expected = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join("");
    expect(sizeBytes).toBe(expected.length + 4);
    expect(hash.digest("hex")).toBe(createHash("sha256").update(expected).digest("hex"));
    expect(await reader.result).toMatchObject({ exitCode: 0 });
  });

  test("a paste that the program does not take yet goes on afterwards", async () => {
    const text = `${"0123456789abcde\n".repeat(65_536)}`;
    const terminal = await driver.openTerminal([
      "sh",
      "-c",
      "stty raw -echo; sleep 1; head -c 1048576 | sha256sum",
    ]);
    await delay(200);
    const pasting = driver.link.write(terminal, Buffer.from(text));
    await delay(200);

    await driver.link.quiesce();
    await driver.link.resume();

    await pasting;
    const sum = createHash("sha256").update(text).digest("hex");
    expect(await driver.shown(terminal, 0n, sum)).toContain(sum);
  });

  test("ending the link rejects readers and calls", async () => {
    const link = await InitLink.connect(driver.sandbox.socketPath);
    const reader = link.readTerminal(
      driver.shell,
      (await driver.stateOf(driver.shell)).endOffset + 1_000_000n,
    );

    link.end(new Error("swapped"));

    await expect(link.list()).rejects.toThrow("swapped");
    await expect(reader.result).rejects.toThrow("swapped");
    await link.ended;
  });
});

describe("terminals", () => {
  test("a reader that is too slow skips ahead and knows it", async () => {
    const terminal = await driver.openTerminal(["sh", "-c", "seq 1000000; echo the-end; sleep 60"]);
    await until(
      () => driver.stateOf(terminal),
      (state) => state.endOffset > 4_000_000n,
    );

    const reader = driver.link.readTerminal(terminal, 0n);
    let first: bigint | undefined;
    let seen = "";
    for await (const { offset, bytes } of reader) {
      first ??= offset;
      seen += bytes.toString();
      if (seen.includes("the-end")) break;
    }
    reader.close();

    expect(first).toBeGreaterThan(0n);
    expect(seen).toContain("1000000\r\n");
    await driver.link.closeTerminal(terminal);
  });

  test("a program may close its terminal and open it again", async () => {
    const script = "exec <&- >&- 2>&-; sleep 0.4; echo back >/dev/tty; sleep 1";
    const terminal = await driver.openTerminal(["sh", "-c", script]);

    expect(await driver.shown(terminal, 0n, "back")).toBe("back\r\n");
    await driver.link.closeTerminal(terminal);
  });

  test("a resize reaches the program", async () => {
    await driver.link.resize(driver.shell, 132, 50);

    expect((await driver.run("stty size", { tty: true })).exitCode).toBe(0);
    expect(await driver.stateOf(driver.shell)).toMatchObject({ cols: 132, rows: 50 });
  });

  test("the end of a terminal's program is reported after its last output", async () => {
    const terminal = await driver.openTerminal(["sh", "-c", "echo last; exit 6"]);
    const reader = driver.link.readTerminal(terminal);
    let seen = "";
    for await (const { bytes } of reader) seen += bytes.toString();

    expect(seen).toBe("last\r\n");
    expect(await reader.result).toMatchObject({ exitCode: 6 });
  });
});

/** Sockets of init besides the one it listens on. */
function unixConnections(): number {
  const directory = `/proc/${driver.sandbox.pid}/fd`;
  const targets = readdirSync(directory).map((fd) => readlinkSync(`${directory}/${fd}`));
  return targets.filter((target) => target.startsWith("socket:")).length - 1;
}
