import { expect, test } from "vitest";
import type { CheckpointRow } from "../../portable/model/index.ts";
import { fromManifest, toManifest } from "./manifest.ts";

const ROW: CheckpointRow = {
  id: "abcdefghij",
  session: "klmnopqrst",
  sessionName: "web",
  parent: null,
  name: "first",
  intent: "before\n\u001b[31mthe storm",
  tags: null,
  agentSaid: "Ran the tests",
  agentState: '{"v":1}',
  task: "3 Deploy",
  trigger: "manual",
  autoCause: null,
  content: "full",
  createdAt: "2026-01-02T03:04:05.678Z",
  pauseMs: 12.34,
  totalMs: 23.45,
  memoryBytes: 4096,
  pauseBytes: 1024,
  stage: "captured",
  base: "/",
  net: "nat",
  netAllow: null,
  user: "root",
  cwd: "/root",
  binds: [{ source: "/host", target: "/inside", readOnly: true }],
  hostMounts: ["/home"],
  shell: "/bin/zsh",
  memoryLimitBytes: 4,
  cpuLimit: 0.5,
  pidsLimit: 6,
  diskLimitBytes: 7,
  heldBy: null,
  heldWhy: null,
  terminal: 1,
  kernel: "6.18.0",
  criu: "4.1.1",
  arch: "x64",
  unchangedSince: "zyxwvutsrq",
  imagesSums: "sha256:00",
};

test("a row comes back from its manifest, also by way of JSON", () => {
  expect(fromManifest(JSON.parse(JSON.stringify(toManifest(ROW))))).toEqual(ROW);
});

test("a manifest of the first format has no binds, host mounts, shell or limits", () => {
  const { binds: _b, hostMounts: _h, shell: _s, ...rest } = ROW;
  const { memoryLimitBytes: _m, cpuLimit: _c, pidsLimit: _p, diskLimitBytes: _d, ...more } = rest;
  const { unchangedSince: _u, imagesSums: _i, ...checkpoint } = more;

  const row = fromManifest({ format: 1, checkpoint });

  const none = {
    shell: null,
    memoryLimitBytes: null,
    cpuLimit: null,
    pidsLimit: null,
    diskLimitBytes: null,
    unchangedSince: null,
    imagesSums: null,
  };
  expect(row).toEqual({ ...checkpoint, binds: [], hostMounts: [], ...none });
});

test("a manifest in which something has changed is not taken for true", () => {
  const written = JSON.parse(JSON.stringify(toManifest(ROW)));
  const changed = { ...written, checkpoint: { ...written.checkpoint, cwd: "/rooT" } };

  expect(() => fromManifest(changed)).toThrow(
    expect.objectContaining({ code: "CHECKPOINT_INCOMPLETE" }),
  );
});

test("a manifest of a newer version is not touched, whatever is in it", () => {
  const newer = { format: 4, checkpoint: { id: 7 } };

  expect(() => fromManifest(newer)).toThrow(
    expect.objectContaining({ code: "FORMAT_TOO_NEW", detail: { found: 4, known: 3 } }),
  );
});

test.each([
  ["nothing", null],
  ["text", "format"],
  ["no format", { checkpoint: ROW }],
  ["no checkpoint", { format: 1 }],
  ["a field missing", { format: 1, checkpoint: { ...ROW, base: undefined } }],
  ["a field of another kind", { format: 1, checkpoint: { ...ROW, net: "wifi" } }],
])("a manifest with %s is incomplete", (_what, manifest) => {
  expect(() => fromManifest(manifest)).toThrow(
    expect.objectContaining({ code: "CHECKPOINT_INCOMPLETE" }),
  );
});
