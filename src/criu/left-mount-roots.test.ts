import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, rmdirSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { expect, test } from "vitest";
import { withoutLeftMountRoots } from "./left-mount-roots.ts";

/** Other work on this machine may restore too. */
const GONE_TIMEOUT_MS = 15_000;

async function goesAfterLaterRestores(root: string): Promise<boolean> {
  const endsAtMs = performance.now() + GONE_TIMEOUT_MS;
  while (existsSync(root) && performance.now() < endsAtMs) {
    await withoutLeftMountRoots(async () => ({ exitCode: 0 }));
    await delay(20);
  }
  return !existsSync(root);
}

const makeRoot = () => mkdtempSync("/tmp/.criu.mntns.test-");

test("what a failed restore left is removed, what was there before is not", async () => {
  const others = makeRoot();
  let own = "";

  await withoutLeftMountRoots(async () => {
    own = makeRoot();
    return { exitCode: 1 };
  });

  expect([await goesAfterLaterRestores(own), existsSync(others)]).toEqual([true, true]);
  rmdirSync(others);
});

test.each(["restore", "swrk"])(
  "while another CRIU may restore (%s) nothing is removed; it goes after a later restore",
  async (word) => {
    // All that is looked at is how it was called.
    const other = spawn("sh", ["-c", "echo; read line", "/somewhere/criu", word]);
    await once(other.stdout, "data");
    let othersRoot = "";

    await withoutLeftMountRoots(async () => {
      othersRoot = makeRoot();
      return { exitCode: 1 };
    });

    expect(existsSync(othersRoot)).toBe(true);
    other.stdin.end();
    await once(other, "close");
    expect(await goesAfterLaterRestores(othersRoot)).toBe(true);
  },
);
