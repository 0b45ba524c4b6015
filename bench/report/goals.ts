import { restedFigure } from "../measuring/rested.ts";
import { PACE_MEBIBYTES } from "../workloads/pace.ts";
import { FOLLOWED_GOALS, NEVER_SLOWER_GOALS, TRACKED_GOALS } from "./followed-goals.ts";
import type { Figure, Goal } from "./goal.ts";
import { median, type Results, spread } from "./results.ts";

/** How one goal was met. */
export interface GoalOutcome {
  what: string;
  goal: string;
  /** "9.1 ms", "1.18 ×"; null where it was not measured. */
  measured: string | null;
  isMet: boolean | null;
}

const SHELL_PAUSE: Figure = ["shell", "waypoint", "pause"];
const FORKED: Figure = ["shell", "waypoint", "fork"];
const DEEP: Figure = ["lineage", "depth 500", "checkpoint"];

/** How long a restore of an older checkpoint is called, with the capture that undo needs. */
const WITH_UNDO = restedFigure("restore, with what is captured for undo");

/** What somebody feels who does something every few seconds. */
const PACE_GOALS: readonly Goal[] = [
  ...PACE_MEBIBYTES.flatMap((mebibytes): Goal[] => {
    const who = `waypoint, ${mebibytes} MiB`;
    const figure: Figure = ["pace", who, restedFigure("pause")];
    return [
      {
        ...{ what: `pause after a rest against back to back, ${mebibytes} MiB`, atMost: 1.2 },
        ...{ figure, against: ["pace", who, "pause"] },
      },
      {
        ...{ what: `pause after a rest, ${mebibytes} MiB: p95 against p50`, atMost: 1.5 },
        ...{ figure, isSpread: true },
      },
      {
        ...{ what: `pause after a rest, ${mebibytes} MiB, against bare criu dump`, atMost: 1 },
        ...{ figure, against: ["pace", `bare criu, ${mebibytes} MiB`, restedFigure("pause")] },
      },
    ];
  }),
  {
    what: "restore with its undo point after a rest against a cold fork",
    atMost: 2,
    figure: ["pace", "waypoint", WITH_UNDO],
    against: ["pace", "waypoint", restedFigure("fork")],
  },
  {
    ...{ what: "the same on the command line: more than its fork", atMost: 60, isDifference: true },
    figure: ["pace", "command line", WITH_UNDO],
    against: ["pace", "command line", restedFigure("fork")],
  },
];

const SLOWEST_CALL = "exec, slowest of 100";

/** What a session pays that is checkpointed by itself. */
const AUTOMATIC_GOALS: readonly Goal[] = [
  {
    ...{ what: "auto hybrid, 150 MiB: longest pause", atMost: 60 },
    figure: ["automatic", "auto hybrid", "pause, longest"],
  },
  {
    ...{ what: "auto hybrid, 150 MiB: pause against a shell's", atMost: 1.5 },
    figure: ["automatic", "auto hybrid", "pause"],
    against: ["automatic", "a shell, auto hybrid", "pause"],
  },
  {
    ...{ what: "slowest exec of 100, against without auto", atMost: 1.3 },
    figure: ["automatic", "auto hybrid", SLOWEST_CALL],
    against: ["automatic", "auto off", SLOWEST_CALL],
  },
];

/** What a daemon takes that has been used, against a fresh one. */
const AGED_GOALS: readonly Goal[] = [
  {
    what: "daemon that has been used",
    atMost: 120,
    unit: "MiB",
    figure: ["aged", "aged", "daemon, MiB"],
  },
  ...[
    ...["pause", "checkpoint", "exec true", "fork", "removal of a fork"],
    "restore, with what is captured for undo",
    ...["restore", "undo", "fork"].map((move) => `from a standby: ${move}`),
    ...PACE_MEBIBYTES.map((mebibytes) => `pause, ${mebibytes} MiB`),
    ...["auto hybrid: pause", "throw-away fork"],
    ...["ls", "exec true", "checkpoint"].map((command) => `${command}, beyond Node's start`),
  ].map(
    (figure): Goal => ({
      ...{ what: `${figure}: a used daemon against a fresh one`, atMost: 1.15 },
      ...{ figure: ["aged", "aged", figure], against: ["aged", "fresh", figure] },
    }),
  ),
];

/** The goals, for medians where nothing else is said. */
const GOALS: readonly Goal[] = [
  { what: "pause of a shell's checkpoint", atMost: 10, figure: SHELL_PAUSE },
  {
    ...{ what: "pause of a shell's checkpoint against bare criu dump", atMost: 1.1 },
    ...{ figure: SHELL_PAUSE, against: ["shell", "bare criu", "pause"] },
  },
  {
    ...{ what: "pause of a shell's checkpoint: p95 against p50", atMost: 1.5, isSpread: true },
    figure: SHELL_PAUSE,
  },
  { what: "cold fork to the first answered command", atMost: 28, figure: FORKED },
  { what: "standby fork, likewise", atMost: 4, figure: ["standby", "waypoint", "fork"] },
  { what: "standby restore, likewise", atMost: 4, figure: ["standby", "waypoint", "restore"] },
  { what: "standby undo, likewise", atMost: 5, figure: ["standby", "waypoint", "undo"] },
  { what: "16 forks, all answering", atMost: 400, figure: ["forks", "waypoint", "16 forks"] },
  {
    ...{ what: "throw-away fork on two cores, of 40 a second", atMost: 25 },
    figure: ["verify", "waypoint", "throw-away fork"],
  },
  {
    what: "16 throw-away forks of 500 MiB that touch 25 each: all answering",
    ...{ atMost: 1000, figure: ["throwaway", "waypoint", "16 forks, all answering"] },
  },
  {
    what: "the same: their memory, times what they touched",
    ...{ atMost: 1.3, unit: "×" },
    figure: ["throwaway", "waypoint", "memory, times what was touched"],
  },
  {
    what: "the same: pause of a checkpoint of each against a shell's",
    ...{ atMost: 1.5, figure: ["throwaway", "waypoint", "pause of a checkpoint of each"] },
    against: ["throwaway", "waypoint", "pause of a shell's checkpoint, in turn with these"],
  },
  { what: "2 GiB: pause", atMost: 450, figure: ["memory", "waypoint", "pause"] },
  {
    ...{ what: "2 GiB: restored to the first answer", atMost: 100 },
    figure: ["memory", "waypoint", "fork"],
  },
  {
    ...{ what: "checkpoint at depth 500 against depth 1", atMost: 1.2 },
    ...{ figure: DEEP, against: ["lineage", "depth 1", "checkpoint"] },
  },
  {
    ...{ what: "checkpoint with 100,000 files against 100", atMost: 1.2 },
    figure: ["files", "waypoint", "save"],
    against: ["files", "waypoint, 100 files", "save"],
  },
  {
    ...{ what: "checkpoint: times faster than podman's", timesFasterMin: 10 },
    figure: ["shell", "waypoint", "checkpoint"],
    against: ["shell", "podman", "checkpoint"],
  },
  {
    ...{ what: "restore: times faster than podman's", timesFasterMin: 10 },
    ...{ figure: FORKED, against: ["shell", "podman", "restore"] },
  },
  {
    what: "story of a shell's checkpoint",
    atMost: 150,
    figure: ["story", "waypoint", "story ready"],
  },
  {
    what: "story in a git repository of 5,000 files",
    atMost: 150,
    figure: ["story", "waypoint", "story ready, in a repository"],
  },
  { what: "log of 5,000 checkpoints", atMost: 300, figure: ["log", "command line", "log"] },
  {
    what: "10 kB more of a conversation of 10 MB",
    atMost: 5,
    figure: ["agent-state", "sdk", "put"],
  },
  {
    ...{ what: "10 MB of conversation on the disk: times its size", atMost: 1.5 },
    figure: ["agent-state", "sdk", "disk, times the conversation"],
    unit: "×",
  },
  {
    ...{ what: "checkpoint with a conversation of 10 MB against without", atMost: 1.1 },
    figure: ["agent-state", "with a state", "checkpoint"],
    against: ["agent-state", "without a state", "checkpoint"],
  },
  ...["static", "rewritten", "appended", "1 MB"].map(
    (scene): Goal => ({
      ...{
        what: `graph, ${scene}: checkpoints a second against SqliteSaver's`,
        timesFasterMin: 1.5,
      },
      ...{ figure: ["langgraph", "WaypointSaver", scene] },
      against: ["langgraph", "SqliteSaver", scene],
    }),
  ),
  ...["static", "appended"].map((scene): Goal => {
    const figure = `${scene}: MB on the disk`;
    return {
      ...{ what: `graph, ${scene}: room on the disk against SqliteSaver's`, atMost: 0.2 },
      ...{ figure: ["langgraph", "WaypointSaver", figure] },
      against: ["langgraph", "SqliteSaver", figure],
    };
  }),
  {
    ...{ what: "graph: 99 of 100 puts against SqliteSaver's", atMost: 1 },
    figure: ["langgraph", "WaypointSaver", "put, 99 of 100"],
    against: ["langgraph", "SqliteSaver", "put, 99 of 100"],
  },
  { what: "100,000 files, one changed: diff", atMost: 100, figure: ["story", "waypoint", "diff"] },
  {
    ...{ what: "store: 10 checkpoints of an idle 1 GiB process", atMost: 1177.6, unit: "MiB" },
    figure: ["space", "1 GiB", "store, MiB"],
  },
  {
    ...{ what: "store: ten checkpoints of 1 GiB with 10 MiB written, against what was copied" },
    ...{ atMost: 1.05, figure: ["space", "1 GiB, 10 MiB written", "store, MiB"] },
    against: ["space", "1 GiB, 10 MiB written", "copied in pauses, MiB"],
  },
  {
    ...{ what: "store: 100 checkpoints of a shell", atMost: 100, unit: "MiB" },
    figure: ["space", "shell", "store, MiB"],
  },
  {
    ...{ what: "command line: more than the operation", atMost: 80, isDifference: true },
    figure: ["commands", "command line", "exec true"],
    against: ["commands", "sdk", "exec true"],
  },
  ...(
    [
      ["exec true", 15],
      ["checkpoint", 45],
    ] as const
  ).map(
    ([figure, atMost]): Goal => ({
      ...{
        what: `${figure} on the command line: more than Node's start`,
        atMost,
        isDifference: true,
      },
      ...{
        figure: ["commands", "command line", figure],
        against: ["commands", "node -e 0", "start"],
      },
    }),
  ),
  ...NEVER_SLOWER_GOALS,
  ...TRACKED_GOALS,
  ...FOLLOWED_GOALS,
  ...PACE_GOALS,
  ...AUTOMATIC_GOALS,
  ...AGED_GOALS,
];

/** Returns how each goal was met; goals of workloads that were not asked for are left out. */
export function judgeGoals(results: Results): GoalOutcome[] {
  const names = new Set(results.workloads.map(({ name }) => name));
  const asked = GOALS.filter(({ figure: [workload] }) => names.has(workload));
  return asked.map((goal) => judge(goal, results));
}

/** Returns how the rows of these workloads' goals begin in a document. */
export function goalRowsOf(workloads: ReadonlySet<string>): string[] {
  const goals = GOALS.filter(({ figure: [workload] }) => workloads.has(workload));
  return goals.map((goal) => `| ${goal.what} | ${boundOf(goal)} |`);
}

function isRatioOf(goal: Goal): boolean {
  return goal.isSpread === true || (goal.against !== undefined && goal.isDifference !== true);
}

function unitOf(goal: Goal): string {
  return isRatioOf(goal) ? "×" : (goal.unit ?? "ms");
}

/** Returns the goal as it is printed, "≤ 1.3 ×". */
function boundOf(goal: Goal): string {
  const { timesFasterMin, atMost } = goal;
  const unit = unitOf(goal);
  return timesFasterMin === undefined ? `≤ ${atMost} ${unit}` : `≥ ${timesFasterMin} ${unit}`;
}

function judge(goal: Goal, results: Results): GoalOutcome {
  const { what, timesFasterMin, atMost = Number.POSITIVE_INFINITY } = goal;
  const isRatio = isRatioOf(goal);
  const bound = boundOf(goal);
  const value = goal.isSpread ? spread(results, goal.figure) : median(results, goal.figure);
  // A spread is a ratio by itself.
  const alone = goal.isSpread ? 1 : 0;
  const other = goal.against === undefined ? alone : median(results, goal.against);
  if (value === undefined || other === undefined) {
    return { what, goal: bound, measured: null, isMet: null };
  }
  const compared =
    timesFasterMin !== undefined ? other / value : isRatio ? value / other : value - other;
  const isMet = timesFasterMin === undefined ? compared <= atMost : compared >= timesFasterMin;
  const digits = isRatio && timesFasterMin === undefined ? 2 : 1;
  const measured = `${compared.toFixed(digits)} ${unitOf(goal)}`;
  return { what, goal: bound, measured, isMet };
}
