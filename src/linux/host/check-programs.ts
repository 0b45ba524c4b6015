import { existsSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { type CriuRecord, criuArgv, readCriuRecord } from "../../../scripts/setup/criu-record.mjs";
import { runProcess } from "../../base/index.ts";
import { toWaypointError } from "../../shared/errors/index.ts";
import { failed, type HostCheck, passed } from "./host-check.ts";
import { nativePaths } from "./native-programs.ts";

const NODE_MAJOR_MIN = 24;
const CRIU_CHECK_TIMEOUT_MS = 20_000;
const SETUP_COMMAND = "waypoint setup";

/** Checks the Node that runs this program. */
export function checkNode(): HostCheck {
  const { node } = process.versions;
  const detail = `${node} (${process.execPath})`;
  if (Number.parseInt(node, 10) >= NODE_MAJOR_MIN) return passed("node", detail);
  return failed("node", detail, SETUP_COMMAND);
}

/** Starts the chosen CRIU with `check`, which asks the kernel for everything that CRIU needs. */
export async function checkCriu(packageRoot: string): Promise<HostCheck> {
  const record = readCriuRecord(packageRoot);
  if (record === null) return failed("criu", "none has been set up", SETUP_COMMAND);
  const detail = `${record.version}, ${record.origin === "private" ? "private" : record.program}`;
  // CRIU asks the kernel for what only root is answered; that says nothing of the kernel.
  if (process.getuid?.() !== 0) return passed("criu", `${detail}; not tried: it needs root`);
  const failure = await failureOfCriuCheck(record);
  if (failure === null) return passed("criu", `${detail}, \`criu check\` passes`);
  const fix =
    record.kernelRelease === os.release()
      ? "Read docs/setup.md about `criu`; the kernel lacks something that CRIU needs."
      : SETUP_COMMAND;
  return failed("criu", `${detail}: ${failure}`, fix);
}

/** Checks that the set-up has built what the engine starts or loads besides JavaScript. */
export function checkNativePrograms(packageRoot: string): HostCheck {
  const paths = nativePaths(packageRoot);
  const names = paths.map((file) => path.basename(file));
  const missing = names.filter((_name, index) => !existsSync(paths[index] ?? ""));
  if (missing.length === 0) return passed("native", names.join(", "));
  return failed("native", `not built: ${missing.join(", ")}`, SETUP_COMMAND);
}

async function failureOfCriuCheck(record: CriuRecord): Promise<string | null> {
  const [program = "criu", ...args] = criuArgv(record);
  try {
    await runProcess([program, ...args, "check"], { timeoutMs: CRIU_CHECK_TIMEOUT_MS });
    return null;
  } catch (thrown) {
    const { stderr } = toWaypointError(thrown).detail;
    const lines = String(stderr ?? thrown).split("\n");
    // CRIU warns of many things that do not matter; what decides is marked as an error.
    return lines.find((line) => line.startsWith("Error")) ?? "`criu check` fails";
  }
}
