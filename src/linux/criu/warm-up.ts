import { rm } from "node:fs/promises";
import { type CriuProgram, runCriu } from "./criu-program.ts";

const CHECK_TIMEOUT_MS = 30_000;

/**
 * Makes CRIU probe the kernel now, so that no dump or restore pays the 50 ms for it; idempotent.
 *
 * CRIU keeps the result in `/run/criu.kdat`, only where `/run` is a tmpfs. A `criu.kdat.tmp` left
 * by a run that died keeps it from ever doing so again, silently.
 *
 * @returns whether `criu check` passed; what it misses shows up in `waypoint doctor`.
 */
export async function warmUp(criu: CriuProgram): Promise<boolean> {
  await rm("/run/criu.kdat.tmp", { force: true });
  const run = await runCriu({
    criu,
    netnsPath: null,
    criuArguments: ["check", "--no-default-config"],
    timeoutMs: CHECK_TIMEOUT_MS,
  });
  return run.exitCode === 0;
}
