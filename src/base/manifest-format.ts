import { WaypointError } from "../shared/errors/index.ts";

/** Version of a checkpoint's manifest; a reader refuses a newer one. */
export const MANIFEST_FORMAT = 3;

/** Checks that a manifest is not of a newer Waypoint. @throws FORMAT_TOO_NEW */
export function requireKnownManifest(manifest: unknown, checkpointId?: string): void {
  const isObject = typeof manifest === "object" && manifest !== null && "format" in manifest;
  const found = isObject ? manifest.format : null;
  if (typeof found !== "number" || found <= MANIFEST_FORMAT) return;
  const what = checkpointId === undefined ? "A checkpoint" : `Checkpoint ${checkpointId}`;
  throw new WaypointError("FORMAT_TOO_NEW", `${what} was written by a newer Waypoint.`, {
    hint: "Install that version again to use it.",
    detail: { found, known: MANIFEST_FORMAT },
  });
}
