import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { afterEach, beforeAll, expect, test } from "vitest";
import { killProcess, pollUntil } from "../../src/base/index.ts";
import { findRunningCriu } from "../../src/linux/criu/index.ts";
import { COUNTER, CriuTrees, type Tree, treeProcesses } from "./criu-trees.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

/** A restore of this tree takes some 20 ms; CRIU makes its first process after 4 to 6. */
const ROUNDS = 60;
const DURATION_MAX_MS = 30;

const title = "a restore that is ended in the middle leaves nothing";
inPrivateNamespace(import.meta.filename, { title, network: false }, () => {
  let trees: CriuTrees;
  beforeAll(async () => {
    trees = await CriuTrees.open();
    await trees.dump(await trees.start(...COUNTER), "c1");
    await trees.endAll();
  });
  afterEach(() => trees.endAll());

  const running = () => findRunningCriu((argument) => argument.startsWith(`${trees.directory}/`));
  const restored = (options: { timeoutMs?: number } = {}) =>
    trees.restore("c1", options).catch((error: unknown) => error);
  const isTree = (outcome: unknown): outcome is Tree =>
    outcome instanceof Object && "pid" in outcome;

  test("whenever its time is up", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const outcome = await restored({ timeoutMs: 2 + Math.random() * DURATION_MAX_MS });

      if (!isTree(outcome)) {
        expect(outcome).toMatchObject({ code: "DEADLINE_EXCEEDED" });
        expect(treeProcesses()).toEqual([]);
      }
      await trees.endAll();
    }
  });

  test("whenever somebody ends CRIU", async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const restoring = restored();
      await delay(Math.random() * DURATION_MAX_MS);
      for (const { pid } of running().filter(isCriu)) killProcess(pid);
      const outcome = await restoring;

      if (!isTree(outcome)) {
        expect(outcome).toMatchObject({ code: "CRIU_RESTORE_FAILED", detail: { reason: "ended" } });
        expect(treeProcesses()).toEqual([]);
      }
      await trees.endAll();
    }
  });

  test("when CRIU is ended with its first process just made", async () => {
    for (let round = 0; round < ROUNDS / 6; ) {
      let ended: unknown;
      const restoring = restored().then((outcome) => (ended = outcome));
      await pollUntil("a process of the tree", { timeoutMs: 60_000, intervalMs: 0 }, () =>
        ended !== undefined || running().length > 1 ? true : undefined,
      );
      for (const { pid } of running().filter(isCriu)) killProcess(pid);
      const outcome = await restoring;

      // Other work of the machine may keep us from looking in the few milliseconds that it takes.
      if (isTree(outcome)) {
        await trees.endAll();
        continue;
      }
      expect(outcome).toMatchObject({ detail: { reason: "ended" } });
      expect(treeProcesses()).toEqual([]);
      round += 1;
    }
  });
});

/** Tells CRIU itself, which this process has started, from the processes that it has made. */
function isCriu({ pid }: { pid: number }): boolean {
  try {
    return (
      Number(/^PPid:\t(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) ===
      process.pid
    );
  } catch {
    return false; // It has ended.
  }
}
