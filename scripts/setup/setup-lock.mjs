import { spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { SetupError } from "./setup-error.mjs";

const WAIT_SECONDS_MAX = 1800;

/** Exit code that `flock` is told to use for "somebody else has it". */
const EXIT_CODE_TAKEN = 75;

/**
 * Takes the lock of one checkout's set-up, waiting for another set-up to end.
 *
 * The lock belongs to the open file, not to a process: `flock` sets it on the descriptor that it
 * shares with us, and the kernel drops it when we are gone. So a killed set-up leaves no stale lock.
 *
 * @param {import("./tools-dir.mjs").ToolsDir} tools
 * @param {{ onWait: () => void }} options
 * @returns {Promise<{ release: () => void }>}
 */
export async function takeSetupLock(tools, options) {
  mkdirSync(tools.path, { recursive: true });
  const fd = openSync(tools.at("setup.lock"), "a");
  if (!(await flock(fd, ["--nonblock"]))) {
    options.onWait();
    if (!(await flock(fd, ["--timeout", String(WAIT_SECONDS_MAX)]))) {
      closeSync(fd);
      throw new SetupError("SETUP_FAILED", "Another set-up of this directory does not end.", {
        hint: "Look for it with `ps -ef | grep bootstrap.mjs`, end it, and run the set-up again.",
      });
    }
  }
  return { release: () => closeSync(fd) };
}

function flock(fd, args) {
  const argv = ["--exclusive", "--conflict-exit-code", String(EXIT_CODE_TAKEN), ...args, "3"];
  const child = spawn("flock", argv, { stdio: ["ignore", "ignore", "ignore", fd] });
  return new Promise((resolve, reject) => {
    child.once("error", (error) => reject(lockFailure(error.message)));
    child.once("exit", (code) => {
      if (code === 0) resolve(true);
      else if (code === EXIT_CODE_TAKEN) resolve(false);
      else reject(lockFailure(`exit code ${code}`));
    });
  });
}

function lockFailure(reason) {
  return new SetupError("SETUP_FAILED", `The set-up's lock cannot be taken: flock: ${reason}.`, {
    hint: "apt-get install util-linux",
  });
}
