import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { peakMemoryBytes, runShellLine, startCommand } from "../support/command-line.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const MEGABYTE = 1_000_000;
const LARGE_BYTES = 100 * MEGABYTE;
/** What 100 MB may add to what a process used before; the sockets and queues are far smaller. */
const GROWTH_BYTES_MAX = 64 * 1024 * 1024;
const COMMAND_MEMORY_BYTES_MAX = 160 * 1024 * 1024;
const CHECKPOINTS = 10;
/** Prints the numbers from 1, without end. */
const COUNT = "seq 1 1000000000";

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "web" });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Sums up a stream of bytes without keeping it. */
class Digest {
  bytes = 0;
  readonly #hash = createHash("sha256");

  add(bytes: Uint8Array): void {
    this.bytes += bytes.length;
    this.#hash.update(bytes);
  }

  hex(): string {
    return this.#hash.digest("hex");
  }
}

/** Returns what sha256sum on this machine says about the output of a line of shell. */
async function sha256On(line: string): Promise<string> {
  return (await runShellLine(own.stateDir, `${line} | sha256sum`)).stdout.slice(0, 64);
}

describe("output", () => {
  test("comes while the command runs, stdout and stderr apart", async () => {
    await session.exec("mkfifo ~/gate");
    const seen: string[] = [];

    const result = await session.exec("echo one; read -r w < ~/gate; echo $w >&2; echo three", {
      onStdout: async (bytes) => {
        seen.push(Buffer.from(bytes).toString());
        if (seen.length === 1) await session.exec("echo two > ~/gate", { shell: "own" });
      },
    });

    expect(seen[0]).toBe("one\n");
    expect(result).toMatchObject({ stdout: "one\nthree\n", stderr: "two\n", exitCode: 0 });
  });

  test("of a person's terminal shows what the agent runs, and what that prints", async () => {
    const watched = await own.waypoint.new();
    const terminal = await TestTerminal.attach(watched);
    await terminal.type("PS1='ready> '; clear\r");
    await terminal.waitFor(/^ready> $/);

    const { stdout } = await watched.exec("echo seen-$((40 + 2)); echo also >&2");

    expect(stdout).toBe("seen-42\n");
    await terminal.waitFor(/^ready> echo seen-\$\(\(40 \+ 2\)\); echo also >&2$/);
    await terminal.waitFor(/^seen-42$/);
    await terminal.waitFor(/^also$/);
    await terminal[Symbol.asyncDispose]();
    await watched.remove({ force: true });
  });

  test.each(["live", "own"] as const)("of every byte value, in the %s shell", async (shell) => {
    const bytes = Buffer.concat([
      Buffer.from(Array.from({ length: 256 }, (_, value) => value)),
      randomBytes(3 * MEGABYTE),
    ]);
    await session.exec("cat > /root/bytes", { shell: "own", input: bytes });
    const [stdout, stderr] = [new Digest(), new Digest()];

    await session.exec("cat /root/bytes; cat /root/bytes >&2", {
      shell,
      onStdout: (chunk) => stdout.add(chunk),
      onStderr: (chunk) => stderr.add(chunk),
    });

    const expected = createHash("sha256").update(bytes).digest("hex");
    expect([stdout.hex(), stderr.hex()]).toEqual([expected, expected]);
  });
});

describe("100 MB of output", () => {
  test.each(["live", "own"])("pass unharmed in constant memory, %s shell", async (shell) => {
    const daemonPid = await own.daemonPid();
    const daemonBefore = peakMemoryBytes(daemonPid);
    const line = `${COUNT} | head -c ${LARGE_BYTES}`;
    const child = startCommand(own.stateDir, ["exec", "web", "--shell", shell, "--", line]);
    const stdout = child.stdout as NonNullable<typeof child.stdout>;
    const digest = new Digest();
    let commandMemory = 0;

    stdout.on("data", (chunk: Buffer) => {
      digest.add(chunk);
      if (digest.bytes < LARGE_BYTES) commandMemory = peakMemoryBytes(child.pid ?? 0);
    });
    const [exitCode] = await once(child, "close");

    expect([exitCode, digest.bytes]).toEqual([0, LARGE_BYTES]);
    expect(digest.hex()).toBe(await sha256On(line));
    expect(commandMemory).toBeLessThan(COMMAND_MEMORY_BYTES_MAX);
    expect(peakMemoryBytes(daemonPid) - daemonBefore).toBeLessThan(GROWTH_BYTES_MAX);
  });

  test("wait for a reader that stands still, in constant memory", async () => {
    const daemonPid = await own.daemonPid();
    const daemonBefore = peakMemoryBytes(daemonPid);
    const digest = new Digest();
    let others = 0;

    await session.exec(`${COUNT} | head -c ${LARGE_BYTES}`, {
      keepOutputBytes: 0,
      onStdout: async (bytes) => {
        // While this command stands still, others run.
        if (digest.bytes === 0) {
          for (; others < 20; others += 1) await session.exec("true", { shell: "own" });
        }
        digest.add(bytes);
      },
    });

    expect(others).toBe(20);
    expect(digest.hex()).toBe(await sha256On(`${COUNT} | head -c ${LARGE_BYTES}`));
    expect(peakMemoryBytes(daemonPid) - daemonBefore).toBeLessThan(GROWTH_BYTES_MAX);
  });

  test.each(["live", "own"] as const)(
    `pass unharmed while ${CHECKPOINTS} checkpoints are taken, %s shell`,
    async (shell) => {
      const digest = new Digest();
      const checkpoints: Promise<unknown>[] = [];
      const line = `${COUNT} | head -c ${LARGE_BYTES}`;

      const { exitCode } = await session.exec(line, {
        shell,
        keepOutputBytes: 0,
        onStdout: async (bytes) => {
          digest.add(bytes);
          const due = Math.floor((digest.bytes * CHECKPOINTS) / LARGE_BYTES);
          if (checkpoints.length >= due || due > CHECKPOINTS) return;
          // Half of them while the output flows, half while it is held up.
          const checkpoint = session.checkpoint();
          checkpoints.push(checkpoint);
          if (checkpoints.length % 2 === 0) await checkpoint;
        },
      });
      await Promise.all(checkpoints);

      expect(exitCode).toBe(0);
      expect(checkpoints.length).toBeGreaterThanOrEqual(CHECKPOINTS);
      expect([digest.bytes, digest.hex()]).toEqual([LARGE_BYTES, await sha256On(line)]);
    },
  );

  test("through a pipe on the command line", async () => {
    const line = `${COUNT} | head -c ${LARGE_BYTES}`;

    const piped = `$W exec web -- '${line}' | sha256sum; echo \${PIPESTATUS[0]}`;
    const [finished, expected] = [await runShellLine(own.stateDir, piped), await sha256On(line)];

    expect(finished).toEqual({ stdout: `${expected}  -\n0\n`, stderr: "", exitCode: 0 });
  });
});
