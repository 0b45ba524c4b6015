import { expect, test } from "vitest";
import type { Results } from "./results.ts";
import { withFigures } from "./write-docs.ts";

const BEGIN = "<!-- figures: written by `npm run bench -- --write-docs`, not by hand -->";
const END = "<!-- end of the figures -->";
const DOCUMENT = `# Before

${BEGIN}

2026-01-01, \`npm run bench\`:

| Goal, for the median | to reach | measured | |
| --- | --- | --- | --- |
| 16 forks, all answering | ≤ 400 ms | 395.3 ms | met |
| log of 5,000 checkpoints | ≤ 300 ms | 227.6 ms | met |

### Old title (\`forks\`)

old figures

### The timeline (\`log\`)

kept figures

${END}

After
`;

const line = { contender: "waypoint", figure: "16 forks", count: 3, min: 400, p50: 500, p95: 600 };
const RESULTS = {
  machine: { at: "2026-02-03T00:00:00Z", loadBefore: 0.5, loadAfter: 1, cores: 2, cpu: "Fast" },
  words: "--only forks",
  workloads: [
    {
      name: "forks",
      title: "new title",
      lines: [{ ...line, values: [400, 500, 600] }],
      notMeasured: [],
    },
  ],
} as unknown as Results;

test("a run of some workloads writes theirs, and leaves the others", () => {
  const written = withFigures(DOCUMENT, RESULTS);

  expect(written).toContain("| 16 forks, all answering | ≤ 400 ms | 500.0 ms | **missed** |\n");
  expect(written).toContain("| log of 5,000 checkpoints | ≤ 300 ms | 227.6 ms | met |\n\n### New");
  expect(written).toContain("### New title (`forks`)\n\n| | | min |");
  expect(written).toContain("goals: 2026-02-03, `npm run bench -- --only forks`, 2 cores (Fast), ");
  expect(written).not.toContain("old figures");
  expect(written).toContain("kept figures\n\n<!-- end");
  expect(withFigures(written, RESULTS)).toBe(written);
});

test("a workload that was not there comes behind the others", () => {
  const other = { ...RESULTS, workloads: [{ ...RESULTS.workloads[0], name: "pace" }] } as Results;

  expect(withFigures(DOCUMENT, other)).toMatch(/kept figures\n\n### New title \(`pace`\)/);
});

test("a document without a place for figures is an error", () => {
  expect(() => withFigures("# Nothing", RESULTS)).toThrow("no place");
});
