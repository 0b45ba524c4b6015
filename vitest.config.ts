import process from "node:process";
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Tests with real processes have deadlines, and CI shares its machine. A program of the zoo that
 * needs a second or third try is named in the output of the gate; by hand it fails. Files of
 * integration tests are run again by scripts/check.mjs, each whole.
 */
const retry = process.env["CI"] === undefined ? 0 : 2;

/**
 * How many files, or programs of the zoo, are at work side by side. Each waits for half of its time,
 * for programs to draw and limits to end.
 */
const AT_ONCE = 2;

/**
 * Files that work all the time begin spread over the run, each beside others that wait: two of them at once would
 * take as long as one after the other.
 */
const AT_WORK = /\/restless-/;

class SpreadOut extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const atWork = sorted.filter(({ moduleId }) => AT_WORK.test(moduleId));
    const others = sorted.filter(({ moduleId }) => !AT_WORK.test(moduleId));
    const share = Math.ceil(others.length / Math.max(1, atWork.length));
    if (atWork.length === 0) return others;
    return atWork.flatMap((file, at) => [file, ...others.slice(at * share, (at + 1) * share)]);
  }
}

export default defineConfig({
  test: {
    sequence: { sequencer: SpreadOut },
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/tidy/**/*.test.ts", "bench/**/*.test.ts"],
          // Files share a process: to load the same modules for each took half of the time.
          isolate: false,
          setupFiles: ["test/support/let-programs-go-on.ts"],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "integration",
          include: ["test/integration/**/*.test.ts", "test/zoo/{clocks,hundred-restores}.test.ts"],
          pool: "forks",
          maxWorkers: AT_ONCE,
          setupFiles: ["test/support/own-startup-files.ts", "test/support/after-a-hang.ts"],
          testTimeout: 240_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: "zoo",
          include: ["test/zoo/zoo.test.ts"],
          pool: "forks",
          setupFiles: ["test/support/own-startup-files.ts"],
          sequence: { concurrent: true },
          maxConcurrency: AT_ONCE,
          retry,
          // Each wait of a course has a deadline of its own, which says what did not happen.
          testTimeout: 900_000,
          // All programs are installed first, and the network may be slow.
          hookTimeout: 1_200_000,
        },
      },
    ],
  },
});
