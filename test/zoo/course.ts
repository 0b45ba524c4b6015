import type { Checkpoint } from "../../src/index.ts";
import { Stage } from "./stage.ts";
import type { ZooProgram } from "./zoo-program.ts";

const GENERATIONS_PER_ROUND = 10;

/** What the course found out about one program; the rows of docs/compatibility.md. */
export interface ZooResult {
  program: string;
  version: string;
  pauseMsP50: number;
  restoreMs: number;
  generations: number;
  result: "right";
}

/**
 * Takes a program through the course: checkpoint while running, change, restore; two forks that
 * diverge; ten generations in each round. Throws where a state is not the one that was captured.
 */
export async function takeThroughCourse(
  program: ZooProgram,
  base: Checkpoint,
  rounds: number,
): Promise<ZooResult> {
  const stages: Stage[] = [];
  const pausesMs: number[] = [];
  const capture = async (stage: Stage) => {
    const checkpoint = await stage.session.checkpoint();
    pausesMs.push(checkpoint.info.pauseMs ?? 0);
    return checkpoint;
  };
  const branch = async (checkpoint: Checkpoint) => {
    const stage = await Stage.fork(checkpoint);
    stages.push(stage);
    return stage;
  };
  try {
    const original = await branch(base);
    const version = firstLine(await original.run(program.version));
    await program.start(original);
    await changed(program, original, "first");
    const before = await program.see(original);
    const checkpoint = await capture(original);

    await changed(program, original, "lost");
    const { readyMs } = await original.session.restore(checkpoint);
    await unchanged(program, original, before);

    const left = await branch(checkpoint);
    const right = await branch(checkpoint);
    await changed(program, left, "left");
    await changed(program, right, "right");
    const states = await Promise.all([program.see(left), program.see(right)]);
    if (states[0].includes("right") || states[1].includes("left")) throw apart(states);
    await unchanged(program, original, before);
    await remove(stages, right);

    const generations = GENERATIONS_PER_ROUND * rounds;
    const last = await descend(program, left, generations, { capture, branch, stages });
    await program.finish?.(last);
    await program.finish?.(original);
    return {
      program: program.name,
      version,
      pauseMsP50: median(pausesMs),
      restoreMs: readyMs,
      generations,
      result: "right",
    };
  } finally {
    for (const stage of [...stages]) await remove(stages, stage);
  }
}

interface Hands {
  capture: (stage: Stage) => Promise<Checkpoint>;
  branch: (checkpoint: Checkpoint) => Promise<Stage>;
  stages: Stage[];
}

/** Goes on in a fork of a fork of a fork; each former one is removed. */
async function descend(
  program: ZooProgram,
  from: Stage,
  generations: number,
  { capture, branch, stages }: Hands,
): Promise<Stage> {
  let stage = from;
  for (let generation = 1; generation <= generations; generation += 1) {
    const state = await changed(program, stage, `gen${generation}`);
    const next = await branch(await capture(stage));
    await remove(stages, stage);
    await unchanged(program, next, state);
    stage = next;
  }
  return stage;
}

async function changed(program: ZooProgram, stage: Stage, mark: string): Promise<string> {
  await program.change(stage, mark);
  return await stage.sees(program.see, (state) => state.includes(mark), `the change to ${mark}`);
}

async function unchanged(program: ZooProgram, stage: Stage, state: string): Promise<void> {
  const what = `the captured state ${JSON.stringify(state)}`;
  await stage.sees(program.see, (now) => now === state, what);
}

async function remove(stages: Stage[], stage: Stage): Promise<void> {
  stages.splice(stages.indexOf(stage), 1);
  await stage.remove();
}

function apart(states: readonly string[]): Error {
  return new Error(`two forks are not apart: ${JSON.stringify(states)}`);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** Returns the first line, in which any white space is one space. */
function firstLine(text: string): string {
  return (text.trim().split("\n", 1)[0] ?? "").replace(/\s+/g, " ");
}
