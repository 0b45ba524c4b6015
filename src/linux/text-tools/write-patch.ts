import { open } from "node:fs/promises";
import { runProcess } from "../../base/index.ts";
import { hasCode, WaypointError } from "../../shared/errors/index.ts";
import { gitEnvironment } from "./environment.ts";

const TIMEOUT_MS = 600_000;

/**
 * Without prefixes of its own git names a side that is missing after the other one. Lines of content
 * begin with a space, a plus or a minus, so that none is taken for a header.
 */
const BOTH_SIDES = [
  "s|^diff --git [ab]/(.*) [ab]/\\1$|diff --git a/\\1 b/\\1|",
  's|^diff --git "[ab]/(.*)" "[ab]/\\1"$|diff --git "a/\\1" "b/\\1"|',
].join(";");

/**
 * Writes how the directories `a` and `b` in `scratchDir` differ as a new file that `git apply` takes.
 *
 * @throws TOOL_FAILED  this machine has no git.
 */
export async function writePatch(scratchDir: string, patchPath: string): Promise<void> {
  await using out = await open(patchPath, "wx", 0o600);
  const diff =
    "git -c core.quotepath=true diff --no-index --no-prefix --binary --full-index --no-renames a b";
  const line = `${diff} > raw; [ $? -le 1 ] && exec sed -E '${BOTH_SIDES}' raw >&3`;
  try {
    await runProcess(["sh", "-c", line], {
      ...{ cwd: scratchDir, descriptors: [out.fd], timeoutMs: TIMEOUT_MS, env: gitEnvironment() },
    });
  } catch (cause) {
    if (!hasCode(cause, "TOOL_FAILED")) throw cause;
    throw new WaypointError("TOOL_FAILED", "git could not write the patch.", {
      hint: "Install git on this machine; without --patch none is needed.",
      cause,
    });
  }
}
