import { afterAll, beforeAll, expect, test } from "vitest";
import { SystemdMachine } from "../support/systemd-machine.ts";

let machine: SystemdMachine;

beforeAll(async () => {
  machine = await SystemdMachine.boot();
});

afterAll(async () => {
  // Its tables and control groups are the host's.
  machine?.run("$W daemon stop --sessions");
  await machine?.[Symbol.asyncDispose]();
});

test("set-up offers the unit where systemd runs and none is there", () => {
  const { status, stdout } = machine.run("$W setup");

  expect(status).toBe(0);
  expect(stdout).toContain("`waypoint setup --unit`");
});

test("a unit that cannot work is not left behind, and the answer says so", () => {
  const failed = machine.run("touch /srv/file; WAYPOINT_DIR=/srv/file $W setup --unit");

  expect(failed.status).toBe(20);
  expect(failed.stderr).toContain("journalctl -u waypoint.service");
  expect(machine.run("ls /etc/systemd/system/waypoint.service").status).not.toBe(0);
});

test("systemd keeps the daemon, and a session outlives its restart", () => {
  machine.run("$W new web --base / && $W exec web mark=kept");

  const installed = machine.run("$W setup --unit");

  expect(installed).toMatchObject({ status: 0, stderr: "" });
  expect(installed.stdout).toContain("systemd keeps its daemon");
  expect(machine.run("systemctl is-enabled waypoint").stdout).toBe("enabled\n");
  expect(machine.run("systemd-analyze verify waypoint.service").stderr).toBe("");
  expect(machine.run("$W exec web 'echo $mark'").stdout).toBe("kept\n");
  expect(machine.run("systemctl restart waypoint; $W exec web 'echo $mark'").stdout).toBe("kept\n");
  const pid = machine.run("systemctl show --value -p MainPID waypoint").stdout;
  const told = machine.run("$W daemon status --json").stdout;
  expect(JSON.parse(told)).toMatchObject({ pid: Number(pid), sessionsRunning: 1 });
});

test("a daemon that was killed comes again", () => {
  const pid = "systemctl show --value -p MainPID waypoint";
  const before = machine.run(pid).stdout;

  machine.run("systemctl kill --signal=KILL --kill-who=main waypoint");

  // Asked first: a unit whose process has just been killed is active for a moment more, with none.
  const isAnother = `now=$(${pid}); test $now != 0 && test $now != ${before.trim()}`;
  const isBack = `${isAnother} && systemctl is-active -q waypoint`;
  const wait = `for i in $(seq 600); do ${isBack} && break; sleep 0.1; done`;
  expect(machine.run(`${wait}; $W exec web 'echo $mark'`).stdout).toBe("kept\n");
  expect(machine.run(pid).stdout).toMatch(/^[1-9]/);
  expect(machine.run(pid).stdout).not.toBe(before);
});

test("a second set-up changes nothing; somebody's own unit stays", () => {
  const unit = "/etc/systemd/system/waypoint.service";

  expect(JSON.parse(machine.run("$W setup --unit --json").stdout)).toMatchObject({
    ok: true,
    unit: { path: unit, changed: false },
  });
  machine.run(`echo '[Service]' >${unit}`);
  expect(machine.run("$W setup --unit")).toMatchObject({
    status: 20,
    stderr: expect.stringContaining("was not made by this set-up"),
  });
  expect(machine.run(`cat ${unit}`).stdout).toBe("[Service]\n");
});

test("where systemd does not run it is refused", () => {
  const { status, stderr } = machine.run("umount -l /run; $W setup --unit");

  expect(status).toBe(20);
  expect(stderr).toContain("systemd does not run here.");
});
