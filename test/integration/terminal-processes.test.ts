import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Driver } from "../support/terminal/driver.ts";
import { bashProgram, openSandbox, rootProgram } from "../support/terminal/sandbox.ts";
import { eventually } from "../support/test-waypoint.ts";

const driver = new Driver();
beforeAll(() => driver.open());
afterAll(() => driver.close());

describe("own processes", () => {
  test("they get their input and report their end", async () => {
    const id = await driver.link.spawn(rootProgram(["sha256sum"]));
    const bytes = Buffer.alloc(3_000_000, "waypoint");
    const outcome = driver.outcomeOf(id);
    await driver.link.write(id, bytes);
    await driver.link.closeInput(id);

    const sum = createHash("sha256").update(bytes).digest("hex");
    expect(await outcome).toMatchObject({ stdout: `${sum}  -\n`, exitCode: 0 });
  });

  test("a signal ends the process group", async () => {
    const id = await driver.link.spawn(rootProgram(["sh", "-c", "sleep 60; :"]));

    await driver.link.signal(id, 15);

    expect(await driver.outcomeOf(id)).toMatchObject({ exitCode: 143 });
  });

  test("a program that cannot be started is refused with the reason", async () => {
    await expect(driver.link.spawn(rootProgram(["/no/such"]))).rejects.toMatchObject({
      code: "TOOL_FAILED",
      detail: { errno: 2 },
    });
  });

  test("they run as the user and groups asked for", async () => {
    const { stdout } = await driver.spawn(["id"], { uid: 1234, gid: 1235, groups: [7, 8] });

    expect(stdout).toContain("uid=1234 gid=1235");
    expect(
      (await driver.spawn(["sh", "-c", "id -G"], { uid: 1, gid: 2, groups: [7] })).stdout,
    ).toBe("2 7\n");
  });

  test("a user who is not root has a live shell, too", async () => {
    const program = { ...bashProgram(), uid: 1234, gid: 1234, groups: [] };
    const terminal = await driver.link.openTerminal({ ...program, cwd: "/tmp" });

    const { stdout, stderr } = await driver.run(
      "id -u; test -w /run/waypoint || echo safe",
      {},
      terminal,
    );

    expect({ stdout, stderr }).toEqual({ stdout: "1234\nsafe\n", stderr: "" });
    await driver.link.closeTerminal(terminal);
  });

  test("orphans are reaped", async () => {
    await driver.spawn(["sh", "-c", "for i in 1 2 3; do (sleep 0.05 &) ; done"]);
    const count = "grep -l 'State:.Z' /proc/[0-9]*/status | wc -l";

    await eventually(
      "the end of all",
      async () => (await driver.spawn(["sh", "-c", `pgrep -x sleep; ${count}`])).stdout,
      (stdout) => stdout === "0\n",
    );
  });

  test("signals do not end the first process", async () => {
    await driver.spawn([
      "sh",
      "-c",
      "kill -TERM 1; kill -HUP 1; kill -INT 1; kill -KILL 1; kill -PIPE 1",
    ]);

    expect((await driver.spawn(["echo", "alive"])).stdout).toBe("alive\n");
  });
});

describe("what a session may do", () => {
  const call = (numbers: string) =>
    driver.spawn(["perl", "-e", `syscall(${numbers}) < 0 and print $!+0`]);

  test("system calls that cannot be dumped or lead out are refused", async () => {
    const [ENOSYS, EPERM, EAFNOSUPPORT] = ["38", "1", "97"];
    const newUser = 0x10000000;
    const byArchitecture = process.arch === "x64" ? [272, 41] : [97, 198];

    expect((await call("425, 8, 0")).stdout).toBe(ENOSYS); // io_uring_setup
    expect((await call("435, 0, 0")).stdout).toBe(ENOSYS); // clone3
    expect((await call(`${byArchitecture[0]}, ${newUser}`)).stdout).toBe(EPERM);
    expect((await call(`${byArchitecture[1]}, 38, 5, 0`)).stdout).toBe(EAFNOSUPPORT); // AF_ALG
    expect((await call(`${byArchitecture[1]}, 2, 1, 262`)).stdout).toBe("93"); // MPTCP
  });

  test("capabilities are those of a container and the kernel's files are masked", async () => {
    const { stdout } = await driver.spawn([
      "grep",
      "-E",
      "CapBnd|CapEff|CapInh|Seccomp:|NoNew",
      "/proc/self/status",
    ]);

    expect(stdout).toContain("CapBnd:\t00000000a00425fb");
    expect(stdout).toContain("CapEff:\t00000000a00425fb");
    expect(stdout).toContain("CapInh:\t0000000000000000");
    expect(stdout).toContain("Seccomp:\t2");
    expect(stdout).toContain("NoNewPrivs:\t0");
    const write = await driver.spawn(["sh", "-c", "echo 1 >/proc/sys/kernel/panic"]);
    expect(write.exitCode).not.toBe(0);
    expect((await driver.spawn(["wc", "-c", "/proc/timer_list"])).stdout).toMatch(/^0 /);
  });

  test("nothing of the launcher leaks into the session", async () => {
    const { stdout } = await driver.spawn([
      "sh",
      "-c",
      "ls /proc/1/fd | wc -l; tr '\\0' '\\n' </proc/1/environ | wc -l; hostname",
    ]);

    const [descriptors, variables, name] = stdout.split("\n");
    expect(Number(descriptors)).toBeLessThan(40);
    expect([variables, name]).toEqual(["0", "test"]);
  });
});

test("the link ends when the session does", async () => {
  await using own = await openSandbox();
  const terminal = await own.link.openTerminal(bashProgram());
  const reader = own.link.readTerminal(terminal);

  process.kill(own.pid, "SIGKILL");

  await own.link.ended;
  await expect(reader.result).rejects.toMatchObject({ code: "SESSION_ENDED" });
  await expect(own.link.list()).rejects.toMatchObject({ code: "SESSION_ENDED" });
});
