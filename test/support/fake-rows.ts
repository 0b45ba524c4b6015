import {
  type CheckpointRow,
  checkpointRecordSchema,
  type SessionRow,
  sessionRecordSchema,
} from "../../src/portable/model/index.ts";

const AT = "2026-01-02T03:04:05.678Z";

/** Returns a running session on a network of its own, `s1` with the instance `s1-1`. */
export function sessionRow(change: Partial<SessionRow> = {}): SessionRow {
  return sessionRecordSchema.parse({
    ...{ id: "s1", name: "web", state: "running", base: "/base", net: "none", user: "root" },
    ...{ cwd: "/root", createdAt: AT, head: null, forkedFrom: null },
    ...{ instance: "s1-1", instanceCount: 1, ...change },
  }) as SessionRow;
}

/** Returns a durable checkpoint `c1` of that session, with processes and sums. */
export function checkpointRow(change: Partial<CheckpointRow> = {}): CheckpointRow {
  return checkpointRecordSchema.parse({
    ...{ id: "c1", session: "s1", sessionName: "web", parent: null, name: null, intent: null },
    ...{ trigger: "manual", content: "full", createdAt: AT, pauseMs: 5, totalMs: 9 },
    ...{
      memoryBytes: 4096,
      pauseBytes: null,
      stage: "durable",
      base: "/base",
      net: "none",
      user: "root",
    },
    ...{ cwd: "/root", terminal: 1, kernel: "6.18", criu: "4.2.1", arch: "x64" },
    ...{ imagesSums: "sums", ...change },
  }) as CheckpointRow;
}
