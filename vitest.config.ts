import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    projects: [
      {
        test: {
          name: "unit",
          include: ["src/**/*.test.ts", "test/tidy/**/*.test.ts"],
          testTimeout: 20_000,
        },
      },
      {
        test: {
          name: "integration",
          include: [
            "test/integration/**/*.test.ts",
            "test/zoo/{clocks,hundred-restores,unsent-data}.test.ts",
          ],
          pool: "forks",
          // Sessions share the machine's two cores; side by side they would time each other out.
          fileParallelism: false,
          testTimeout: 120_000,
          hookTimeout: 180_000,
        },
      },
      {
        test: {
          name: "zoo",
          include: ["test/zoo/zoo.test.ts"],
          pool: "forks",
          fileParallelism: false,
          testTimeout: 300_000,
          // All programs are installed first, and the network may be slow.
          hookTimeout: 600_000,
        },
      },
    ],
  },
});
