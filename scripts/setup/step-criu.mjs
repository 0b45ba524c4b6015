import os from "node:os";
import {
  CRIU_RECORD_NAME,
  CRIU_VERSION_MIN,
  isVersionAtLeast,
  readCriuRecord,
} from "./criu-record.mjs";
import { readCriuVersion, requireCriuCheck } from "./criu-version.mjs";
import { findCommand } from "./find-command.mjs";
import { installPrivateCriu } from "./private-criu.mjs";

/** Chooses the CRIU to use: the machine's where it is good, else a private one. */
export const criuStep = {
  id: "criu",
  title: "CRIU",

  /** A new kernel can make a good CRIU a bad one, so the choice holds for one kernel. */
  check({ packageRoot }) {
    const record = readCriuRecord(packageRoot);
    if (record === null || record.kernelRelease !== os.release()) return null;
    return describe(record);
  },

  async run(context) {
    const chosen = (await systemCriu()) ?? (await installPrivateCriu(context));
    context.tools.writeJson(CRIU_RECORD_NAME, { ...chosen, kernelRelease: os.release() });
    return describe(chosen);
  },
};

async function systemCriu() {
  const program = findCommand("criu");
  if (program === null) return null;
  const version = await readCriuVersion([program]);
  if (version === null || !isVersionAtLeast(version, CRIU_VERSION_MIN)) return null;
  try {
    await requireCriuCheck([program]);
  } catch {
    return null;
  }
  return { origin: "system", version, program };
}

function describe(record) {
  return `${record.version}, ${record.origin === "system" ? record.program : "private"}`;
}
