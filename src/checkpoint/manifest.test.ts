import { expect, test } from "vitest";
import type { CheckpointRow } from "../catalog/index.ts";
import { fromManifest, toManifest } from "./manifest.ts";

const ROW: CheckpointRow = {
  ...{ id: "c", session: "s", sessionName: "web", parent: null, name: null, intent: null },
  ...{ trigger: "manual", content: "full", createdAt: "2026-01-01T00:00:00.000Z" },
  ...{ pauseMs: 1, totalMs: 2, memoryBytes: 3, stage: "captured", base: "/", net: "nat" },
  ...{ user: "root", cwd: "/root", terminal: 1, kernel: "6", criu: "4", arch: "x64" },
  ...{ shell: "/bin/zsh", memoryLimitBytes: 4, cpuLimit: 0.5, pidsLimit: 6 },
};

test("a manifest gives back the row that it was written from", () => {
  expect(fromManifest(JSON.parse(JSON.stringify(toManifest(ROW))))).toEqual(ROW);
});

test("a manifest from before there were shells and limits has none", () => {
  const { shell: _s, memoryLimitBytes: _m, cpuLimit: _c, pidsLimit: _p, ...old } = ROW;

  const row = fromManifest({ format: 1, checkpoint: old });

  const none = { shell: null, memoryLimitBytes: null, cpuLimit: null, pidsLimit: null };
  expect(row).toEqual({ ...old, ...none });
});

test("a manifest of a newer format is refused", () => {
  const read = () => fromManifest({ format: 2, checkpoint: ROW });

  expect(read).toThrow(expect.objectContaining({ code: "FORMAT_TOO_NEW" }));
});
