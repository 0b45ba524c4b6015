import { expect, test } from "vitest";
import type { CheckpointRow } from "../catalog/index.ts";
import { fromManifest, toManifest } from "./manifest.ts";

const ROW: CheckpointRow = {
  ...{ id: "c1", session: "s1", sessionName: "web", parent: null, name: null, intent: null },
  ...{ trigger: "manual", content: "full", createdAt: "2026-01-01T00:00:00.000Z" },
  ...{ pauseMs: 1, totalMs: 2, memoryBytes: 3, stage: "captured", base: "/", net: "nat" },
  ...{ user: "root", cwd: "/root", terminal: 1, kernel: "6", criu: "4.2", arch: "x64" },
  binds: [{ source: "/host", target: "/inside", readOnly: true }],
  hostMounts: ["/home"],
};

/** What a manifest is after it was written and read. */
function written(manifest: object): Record<string, unknown> {
  return JSON.parse(JSON.stringify(manifest));
}

test("a row is made again from its manifest", () => {
  expect(fromManifest(written(toManifest(ROW)))).toEqual(ROW);
});

test("a manifest of the first format has neither binds nor host mounts", () => {
  const { binds: _b, hostMounts: _m, ...checkpoint } = ROW;

  expect(fromManifest({ format: 1, checkpoint })).toEqual({ ...ROW, binds: [], hostMounts: [] });
});

test("a manifest of a newer format is refused", () => {
  const read = () => fromManifest({ ...written(toManifest(ROW)), format: 3 });

  expect(read).toThrow(expect.objectContaining({ code: "FORMAT_TOO_NEW" }));
});
