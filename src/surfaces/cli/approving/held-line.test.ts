import { expect, test } from "vitest";
import type { ApprovalInfo } from "../../../shared/protocol/index.ts";
import { displayWidth } from "../text/display-width.ts";
import { heldLine, timeLeft } from "./held-line.ts";

const NOW = "2026-01-01T00:00:00.000Z";
const nowMs = Date.parse(NOW);
const STEP: ApprovalInfo = {
  ...{ id: "a1", session: "s1", sessionName: "web", command: "git push", rule: "git push" },
  ...{ checkpoint: "c1", askedAt: NOW, expiresAt: "2026-01-01T00:15:00.000Z", state: "waiting" },
  ...{ settledAt: null, answeredBy: null, why: null, exitCode: null, isWaitedFor: true },
  askedBy: { uid: 0, user: "root", surface: "sdk", sudoUser: "alice", tty: null },
};
const lineOf = (step: Partial<ApprovalInfo>, columns = 120) =>
  heldLine({ ...STEP, ...step }, { columns, nowMs, keys: "[y/N]" });

test("it says what waits, who asks, until when, and how it is answered", () => {
  expect(lineOf({})).toBe("Approve git push — asked by root (sudo: alice, sdk), 15:00 left. [y/N]");
  expect(lineOf({ command: "sudo git push" })).toMatch(/^Approve git push: sudo git push — /);
  expect(timeLeft("2026-01-01T01:02:03.000Z", nowMs)).toBe("1:02:03");
  expect(timeLeft("2025-01-01T01:02:03.000Z", nowMs)).toBe("0:00");
});

test("what a command has is shown, not obeyed, and a secret in it is hidden", () => {
  const line = lineOf({ command: "git push\r\n\u001b[2J\u202eTOKEN=hunter22" });

  // biome-ignore lint/suspicious/noControlCharactersInRegex: none may be there.
  expect(line).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  expect(line).not.toContain("hunter22");
});

test.for([[200], [100], [60], [30], [10]])(
  "at %i columns it is one line with its keys",
  ([columns]) => {
    for (const command of [`git push ${"x".repeat(5000)}`, `git push ${"漢".repeat(5000)}`]) {
      const line = lineOf({ command }, columns);
      expect(displayWidth(line)).toBeLessThan(columns as number);
      if ((columns as number) >= 30) expect(line).toContain("[y/N]");
    }
  },
);
