import { runProcess } from "../../base/index.ts";
import { type HostCheck, passed } from "./host-check.ts";
import { nativePath } from "./native-programs.ts";

const PROBE_TIMEOUT_MS = 10_000;

/** Tries whether the kernel tells which pages a process has written (native/memory-tracker). */
export async function checkFollowedWrites(packageRoot: string): Promise<HostCheck> {
  const program = nativePath(packageRoot, "memory-tracker");
  try {
    const { stdout } = await runProcess([program, "probe"], {
      timeoutMs: PROBE_TIMEOUT_MS,
      okExitCodes: [0, 1],
    });
    return describeFollowedWrites(stdout.trim());
  } catch {
    // It is not built, or not for this user: other checks say so.
    return describeFollowedWrites(null);
  }
}

/** Returns the check for what the kernel lacks: nothing (""), or not known (`null`). */
export function describeFollowedWrites(missing: string | null): HostCheck {
  const id = "follow-writes";
  if (missing === null) return passed(id, "could not be tried");
  if (missing === "") return passed(id, "the kernel tells what a process has written (tried)");
  return {
    id,
    ok: true,
    detail: `missing: ${missing}; each checkpoint copies all memory while the session stands still`,
    fix: "Use Linux 6.7 or newer, with CONFIG_USERFAULTFD as distributions build it.",
  };
}
