import type { Engine, TrackMemorySettings } from "../ports/index.ts";

/** Returns how writes are followed: not at all where the kernel cannot. */
export async function trackMemoryOf(
  wanted: Pick<TrackMemorySettings, "bytesMin" | "aheadBytesMin" | "compares"> | undefined,
  programs: Pick<TrackMemorySettings, "trackerProgramPath" | "assembleProgramPath">,
  { criu, logger }: Pick<Engine, "criu" | "logger">,
): Promise<TrackMemorySettings | null> {
  if (wanted === undefined) return null;
  const { trackerProgramPath, assembleProgramPath } = programs;
  const missing = await criu.findMissingTracking(trackerProgramPath);
  if (missing === null) return { trackerProgramPath, assembleProgramPath, ...wanted };
  logger.warn("writes are not followed on this machine", { missing });
  return null;
}
