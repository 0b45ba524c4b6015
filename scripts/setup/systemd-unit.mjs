import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { runTool } from "./run-tool.mjs";
import { SetupError } from "./setup-error.mjs";

/** Where systemd says that it is what started the machine (sd_booted(3)). */
const BOOTED_PATH = "/run/systemd/system";
const UNIT = "waypoint.service";
const UNIT_PATH = `/etc/systemd/system/${UNIT}`;
const STATE_DIR_USUAL = "/var/lib/waypoint";
/** What a unit says that this set-up may write anew. */
const MADE_BY = "# Made by `waypoint setup --unit`; `systemctl edit waypoint` keeps changes apart.";
const UNIT_HINT = `\`journalctl -u ${UNIT}\` says why.`;
const TOOL_TIMEOUT_MS = 90_000;
const START_TIMEOUT_MS = 30_000;
const POLL_INTERVAL_MS = 250;

/** Whether a unit could be installed and none is there. */
export function isUnitOffered() {
  return existsSync(BOOTED_PATH) && !existsSync(UNIT_PATH);
}

/**
 * Installs the unit that keeps the daemon, enables it and starts the daemon by it.
 *
 * Sessions outlive the daemon, and so a restart of the unit. A daemon that somebody's command has
 * started gives way; its sessions go on.
 *
 * **On success** the daemon runs, and comes with the machine.
 * **On failure** a unit that was there before stays, one that was not is gone.
 *
 * @param {string} packageRoot
 * @returns {Promise<{ path: string, changed: boolean }>}
 * @throws HOST_UNSUPPORTED  systemd does not run here.
 * @throws SETUP_FAILED      the unit is somebody's own, or systemd refuses it.
 */
export async function installUnit(packageRoot) {
  if (!existsSync(BOOTED_PATH)) {
    throw new SetupError("HOST_UNSUPPORTED", "systemd does not run here.", {
      hint: "Start `waypoint daemon` by the init system of this machine.",
    });
  }
  const before = existsSync(UNIT_PATH) ? readFileSync(UNIT_PATH, "utf8") : null;
  if (before !== null && !before.startsWith(MADE_BY)) {
    throw new SetupError("SETUP_FAILED", `${UNIT_PATH} was not made by this set-up.`, {
      hint: "Remove it, or go on with it as it is.",
    });
  }
  const text = unitText(packageRoot, process.env.WAYPOINT_DIR || STATE_DIR_USUAL);
  if (before === text && (await isState("active"))) return { path: UNIT_PATH, changed: false };
  writeUnit(text);
  try {
    await systemctl("daemon-reload");
    await systemctl("enable", UNIT);
    await systemctl("restart", UNIT);
    await awaitAnswer(packageRoot);
  } catch (error) {
    await takeBack(before);
    throw error;
  }
  return { path: UNIT_PATH, changed: true };
}

/**
 * Returns the unit.
 *
 * @param {string} packageRoot
 * @param {string} stateDir
 */
export function unitText(packageRoot, stateDir) {
  const command = quoted(path.join(packageRoot, "bin", "waypoint"));
  return `${MADE_BY}
[Unit]
Description=Waypoint, history for the running computer
RequiresMountsFor=${quoted(stateDir)}

[Service]
Type=exec
Environment=${quoted(`WAYPOINT_DIR=${stateDir}`)}
# A daemon that a command has started gives way; its sessions go on.
ExecStartPre=-${command} daemon stop
ExecStart=${command} daemon
# Until it answers, the next command would start another one; one that has ended never does.
ExecStartPost=/bin/sh -c 'until "$$0" daemon status >/dev/null 2>&1; do kill -0 "$$MAINPID" || exit; sleep 0.1; done' ${command}
Restart=on-failure
# Sessions outlive the daemon, and have limits of their own.
KillMode=process
Delegate=yes
TasksMax=infinity
OOMPolicy=continue

[Install]
WantedBy=multi-user.target
`;
}

/** To have been started is not to work: the first start makes the store. @throws SETUP_FAILED */
async function awaitAnswer(packageRoot) {
  const endsAtMs = performance.now() + START_TIMEOUT_MS;
  const status = [path.join(packageRoot, "bin", "waypoint"), "daemon", "status", "--json"];
  while (performance.now() < endsAtMs) {
    const pid = Number(await systemctl("show", "--value", "--property=MainPID", UNIT));
    const answer = await runTool(status).catch(() => null);
    if (pid > 0 && answer !== null && JSON.parse(answer).pid === pid) return;
    if (await isState("failed")) break;
    await delay(POLL_INTERVAL_MS);
  }
  throw new SetupError("SETUP_FAILED", "The daemon does not answer as a service of systemd.", {
    hint: UNIT_HINT,
  });
}

/** As systemd.syntax(7) has it; % would begin a specifier. */
function quoted(text) {
  return `"${text.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll("%", "%%")}"`;
}

function writeUnit(text) {
  mkdirSync(path.dirname(UNIT_PATH), { recursive: true });
  const draft = `${UNIT_PATH}.new`;
  writeFileSync(draft, text, { mode: 0o644 });
  renameSync(draft, UNIT_PATH);
}

async function takeBack(before) {
  if (before === null) {
    await systemctl("disable", "--now", UNIT).catch(() => {});
    rmSync(UNIT_PATH, { force: true });
  } else writeUnit(before);
  await systemctl("daemon-reload").catch(() => {});
}

async function isState(state) {
  return (await systemctl("show", "--value", "--property=ActiveState", UNIT)).trim() === state;
}

function systemctl(...words) {
  return runTool(["systemctl", ...words], {
    timeoutMs: TOOL_TIMEOUT_MS,
    // A job of systemd goes on whatever becomes of who asked for it.
    isContained: false,
    hint: UNIT_HINT,
  });
}
