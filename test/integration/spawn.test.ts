import { createHash } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const LARGE_BYTES = 20_000_000;

let own: TestWaypoint;
let session: Session;
const failsWith = (code: string) => expect.objectContaining({ code });
const running = async () => (await session.ps()).map(({ command }) => command);

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web", net: "none" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function textOf(source: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const bytes of source) pieces.push(bytes);
  return Buffer.concat(pieces).toString();
}

test("output comes while the command runs, each stream by itself, then its result", async () => {
  await session.exec("mkfifo /srv/gate");
  const command = session.spawn("echo one; read -r w < /srv/gate; echo $w; echo no >&2; false");
  const stderr = textOf(command.stderr);
  const seen: string[] = [];
  for await (const bytes of command.stdout) {
    seen.push(Buffer.from(bytes).toString());
    if (seen.length === 1) await session.exec("echo two > /srv/gate", { shell: "own" });
  }
  expect(seen.join("")).toBe("one\ntwo\n");
  expect(await stderr).toBe("no\n");
  expect(await command.exit).toMatchObject({ exitCode: 1, stdout: "", truncated: true });
});

test("input goes in as it comes, and all of a large output arrives at a slow reader", async () => {
  async function* pieces() {
    for (let at = 0; at < 20; at += 1) yield "x".repeat(LARGE_BYTES / 20);
  }
  const command = session.spawn(["cat"], { shell: "own", input: pieces() });
  const hash = createHash("sha256");
  let bytes = 0;
  for await (const piece of command.stdout) {
    await new Promise(setImmediate);
    bytes += piece.length;
    hash.update(piece);
  }
  const expected = createHash("sha256").update("x".repeat(LARGE_BYTES)).digest("hex");
  expect([bytes, hash.digest("hex")]).toEqual([LARGE_BYTES, expected]);
  expect((await command.exit).exitCode).toBe(0);
});

test("a command whose output nobody reads is held up, and does not fill memory", async () => {
  await using command = session.spawn("seq 1 1000000000 | tee /srv/written", { shell: "own" });
  const size = async () => Number((await session.exec("stat -c %s /srv/written")).stdout);
  await eventually("something is written", size, (written) => written > 0);
  let last = -1;
  await eventually(
    "no more is written",
    async () => {
      const [before, now] = [last, await size()];
      last = now;
      await new Promise((resolve) => setTimeout(resolve, 300));
      return before === now;
    },
    (stands) => stands,
  );
  expect(last).toBeLessThan(64 * 1024 * 1024);
  for await (const bytes of command.stdout) {
    expect(Buffer.from(bytes).toString()).toMatch(/^1\n2\n3\n/);
    break;
  }
});

test("reading one stream alone does not wait for the other; it was read too late then", async () => {
  const command = session.spawn("yes | head -c 3000000 >&2; echo done", { shell: "own" });
  expect(await textOf(command.stdout)).toBe("done\n");
  expect((await command.exit).exitCode).toBe(0);
  await expect(textOf(command.stderr)).rejects.toEqual(failsWith("USAGE_INVALID"));
});

test("the end of its block ends a command, also one that ignores an interrupt", async () => {
  {
    await using polite = session.spawn("sleep 77777");
    await using deaf = session.spawn(
      ["sh", "-c", "trap '' INT TERM; echo on; while :; do sleep 1; done"],
      {
        shell: "own",
      },
    );
    for await (const bytes of deaf.stdout) {
      expect(Buffer.from(bytes).toString()).toBe("on\n");
      break;
    }
    expect(polite.stdout).toBeDefined();
    await eventually("it runs", running, (commands) => commands.includes("sleep 77777"));
  }
  const left = (await running()).filter((command) => /77777|trap/.test(command));
  expect(left).toEqual([]);
  // The live shell is free again.
  expect((await session.exec("echo $((6 * 7))", { timeoutMs: 20_000 })).stdout).toBe("42\n");
});

test("an aborted signal ends reading and waiting with CANCELLED, and the command", async () => {
  const stop = new AbortController();
  const command = session.spawn("echo on; sleep 88888", { signal: stop.signal });
  const read = async () => {
    for await (const _ of command.stdout) stop.abort();
  };
  await expect(read()).rejects.toEqual(failsWith("CANCELLED"));
  await expect(command.exit).rejects.toEqual(failsWith("CANCELLED"));
  const isGone = (commands: string[]) => !commands.includes("sleep 88888");
  await eventually("the command is interrupted", running, isGone);
});

test("a signal reaches the command, and what cannot be begun is told by all of it", async () => {
  const command = session.spawn(
    ["sh", "-c", "trap 'exit 9' USR1; echo on; while :; do sleep 0.1; done"],
    {
      shell: "own",
    },
  );
  for await (const _ of command.stdout) {
    await expect(command.kill("SIGNONE" as never)).rejects.toEqual(failsWith("USAGE_INVALID"));
    await command.kill("SIGUSR1");
  }
  expect((await command.exit).exitCode).toBe(9);

  const none = session.spawn([]);
  await expect(textOf(none.stdout)).rejects.toEqual(failsWith("USAGE_INVALID"));
  await expect(none.exit).rejects.toEqual(failsWith("USAGE_INVALID"));
  await none[Symbol.asyncDispose]();
});

test("what holds something ends with its block: a forwarded port, a mount, an attached terminal", async () => {
  const at = await session.checkpoint();
  {
    await using forward = await session.forward(8000);
    await using browse = await own.waypoint.browse(at);
    using terminal = await session.attach({ columns: 80, rows: 24 });
    expect(forward).toMatchObject({ port: 8000 });
    expect(JSON.parse(JSON.stringify(browse))).toEqual({ ...browse });
    expect(terminal.result).toBeInstanceOf(Promise);
    expect(await session.forwards()).toHaveLength(1);
    expect(await own.waypoint.browses()).toHaveLength(1);
  }
  expect(await session.forwards()).toEqual([]);
  expect(await own.waypoint.browses()).toEqual([]);
  await using again = await session.forward(8000);
  await session.stopForward(again.port);
});
