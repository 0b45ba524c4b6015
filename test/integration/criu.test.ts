import { readFileSync } from "node:fs";
import { afterEach, beforeAll, expect, test } from "vitest";
import { pollUntil } from "../../src/base/index.ts";
import { readImageProcesses } from "../../src/linux/criu/index.ts";
import { COUNTER, CriuTrees, sh, stateOf, type Tree, treeProcesses } from "./criu-trees.ts";
import { inPrivateNamespace } from "./private-namespace.ts";

const title = "CRIU dumps a running tree and restores it side by side";
inPrivateNamespace(import.meta.filename, { title, network: false }, () => {
  let trees: CriuTrees;
  beforeAll(async () => {
    trees = await CriuTrees.open();
  });
  afterEach(() => trees.endAll());

  const countOf = (tree: Tree) => Number(readFileSync(`${tree.ownDir}/kept`, "utf8"));

  test("a dumped tree runs on, and its image can be restored side by side", async () => {
    const tree = await trees.start(...COUNTER);

    const result = await trees.dump(tree, "c1");
    const counted = Number(readFileSync(`${trees.capturedDir("c1")}/kept`, "utf8"));
    const copies = await Promise.all([trees.restore("c1"), trees.restore("c1")]);

    expect(result.pauseMs).toBeGreaterThan(0);
    expect(result.durationMs).toBeGreaterThan(result.pauseMs);
    expect(result.memoryBytes).toBe(result.pauseBytes);
    for (const running of [tree, ...copies]) {
      await pollUntil("the count to go on", { timeoutMs: 60_000 }, () =>
        countOf(running) > counted ? true : undefined,
      );
    }
    expect(await readImageProcesses(`${trees.directory}/images/c1`)).toEqual([
      { pid: 1, parentPid: 0, command: "python3" },
      { pid: expect.any(Number), parentPid: 1, command: "sleep" },
    ]);
  });

  test("a tree restored stopped does nothing until it is let run", async () => {
    await trees.dump(await trees.start(...COUNTER), "c2");
    const counted = Number(readFileSync(`${trees.capturedDir("c2")}/kept`, "utf8"));

    const parked = await trees.restore("c2", { leaveStopped: true });
    await new Promise((resolve) => setTimeout(resolve, 100));

    expect(countOf(parked)).toBe(counted);
    expect(stateOf(parked.pid)).toBe("T");
  });

  test("a restored tree does nothing until the work before it is done", async () => {
    await trees.dump(await trees.start(...COUNTER), "c3");
    const counted = Number(readFileSync(`${trees.capturedDir("c3")}/kept`, "utf8"));
    const counts: number[] = [];

    const restored = await trees.restore("c3", {
      beforeResume: async (ownDir) => {
        for (let look = 0; look < 10; look += 1) {
          counts.push(Number(readFileSync(`${ownDir}/kept`, "utf8")));
          await new Promise((resolve) => setTimeout(resolve, 20));
        }
      },
    });

    expect(new Set(counts)).toEqual(new Set([counted]));
    await pollUntil("the count to go on", { timeoutMs: 60_000 }, () =>
      countOf(restored) > counted ? true : undefined,
    );
  });

  test("a failure of the work before it ends the restored tree, and is thrown", async () => {
    await trees.dump(await trees.start(...COUNTER), "c4");
    await trees.endAll();

    const failure = await trees
      .restore("c4", { beforeResume: () => Promise.reject(new RangeError("no network")) })
      .catch((error: unknown) => error);

    expect(failure).toEqual(new RangeError("no network"));
    expect(treeProcesses()).toEqual([]);
  });

  test.each([
    { change: "rm kept", code: "CRIU_RESTORE_FAILED", reason: "file_missing" },
    {
      change: "echo longer-than-it-was > kept",
      code: "CRIU_RESTORE_FAILED",
      reason: "file_changed",
    },
  ])("a restore after `$change` fails with $reason and leaves no process", async (sample) => {
    const checkpoint = `c-${sample.reason}`;
    const tree = await trees.start(...COUNTER);
    await trees.dump(tree, checkpoint);
    await trees.endAll();

    const failure = await trees
      .restore(checkpoint, { change: sample.change })
      .catch((error: unknown) => error);

    expect(failure).toMatchObject({ code: sample.code, detail: { reason: sample.reason } });
    expect(treeProcesses()).toEqual([]);
  });

  test.each([2, 6, 10])("a restore ended after %i ms leaves no process", async (timeoutMs) => {
    const checkpoint = `c-late-${timeoutMs}`;
    await trees.dump(await trees.start(...COUNTER), checkpoint);
    await trees.endAll();

    const failure = await trees.restore(checkpoint, { timeoutMs }).catch((e: unknown) => e);

    expect(failure).toMatchObject({ code: "DEADLINE_EXCEEDED", detail: { reason: "timeout" } });
    expect(treeProcesses()).toEqual([]);
  });

  test("a cut image is CHECKPOINT_INCOMPLETE, for the reader and for a restore", async () => {
    await trees.dump(await trees.start(...COUNTER), "c-cut");
    sh(`truncate -s 20 ${trees.directory}/images/c-cut/core-1.img`);

    const read = await readImageProcesses(`${trees.directory}/images/c-cut`).catch(
      (e: unknown) => e,
    );
    const restored = await trees.restore("c-cut").catch((error: unknown) => error);

    expect(read).toMatchObject({ code: "CHECKPOINT_INCOMPLETE" });
    expect(restored).toMatchObject({ code: "CHECKPOINT_INCOMPLETE" });
  });
});
