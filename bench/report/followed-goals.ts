import { restedFigure } from "../measuring/rested.ts";
import type { Figure, Goal } from "./goal.ts";

/** What a checkpoint of much memory costs of which little was written. */
function writtenGoals(what: string, measuredAs: (figure: string) => string): Goal[] {
  const figureOf = (who: string, figure: string): Figure => ["tracked", who, measuredAs(figure)];
  const pause = figureOf("waypoint", "pause");
  return [
    { what: `${what}: pause`, atMost: 50, figure: pause },
    {
      ...{ what: `${what}: pause against bare criu dump`, atMost: 0.08 },
      ...{ figure: pause, against: figureOf("bare criu", "pause") },
    },
    {
      ...{ what: `${what}: checkpoint against bare criu dump`, atMost: 0.3 },
      figure: figureOf("waypoint", "checkpoint"),
      against: figureOf("bare criu", "checkpoint"),
    },
  ];
}

/** Much memory, where the writes of sessions are followed. */
export const TRACKED_GOALS: readonly Goal[] = [
  ...writtenGoals("10 MiB written since", (figure) => figure),
  // What a user feels: see docs/performance.md.
  ...writtenGoals("10 MiB written since, after a rest", restedFigure),
  {
    ...{ what: "first checkpoint of much memory: pause", atMost: 100 },
    figure: ["tracked", "waypoint, first", "pause"],
  },
  {
    ...{ what: "first checkpoint: how much slower the program is meanwhile", atMost: 1.43 },
    ...{ figure: ["tracked", "waypoint, first", "times slower meanwhile"], unit: "×" },
  },
  {
    ...{ what: "all memory written all the time: pause against not followed", atMost: 1.1 },
    figure: ["tracked", "waypoint, all written", "pause"],
    against: ["tracked", "not followed, all written", "pause"],
  },
];

/** No pause is longer than that of CRIU by hand. */
export const NEVER_SLOWER_GOALS: readonly Goal[] = [
  ["node", "a Node server"],
  ["redis", "Redis, 100 MB"],
  ["postgresql", "PostgreSQL"],
  ["memory", "2 GiB"],
].map(
  ([name = "", who = ""]): Goal => ({
    ...{ what: `${who}: pause against bare criu dump`, atMost: 1 },
    ...{ figure: [name, "waypoint", "pause"], against: [name, "bare criu", "pause"] },
  }),
);

const SHELL_BESIDE = "pause of a shell's checkpoint, in turn with these";

/** Programs of daily work, likewise: against a shell in the same run. */
export const FOLLOWED_GOALS: readonly Goal[] = [
  ...[
    ["redis", "Redis, 100 MB"],
    ["postgresql", "PostgreSQL"],
    ["node", "a Node server"],
    ["chromium", "headless Chromium"],
  ].map(
    ([name = "", who = ""]): Goal => ({
      ...{ what: `${who}, writes followed: pause against a shell's`, atMost: 1.3 },
      figure: ["followed", name, "pause"],
      against: ["followed", name, SHELL_BESIDE],
    }),
  ),
  {
    ...{ what: "eight programs, 1 GiB: longest pause of ten against a shell's", atMost: 1.5 },
    figure: ["followed", "eight programs", "pause, longest of 10 in a row"],
    against: ["followed", "eight programs", SHELL_BESIDE],
  },
  {
    ...{ what: "1 GiB held, writes followed: pause, times shorter than podman's" },
    ...{ timesFasterMin: 30, figure: ["followed", "1 GiB held", "pause"] },
    against: ["followed", "podman", "pause"],
  },
];
