import type { Checkpoint } from "../../src/index.ts";
import { explainFailure } from "./explain-failure.ts";
import { Stage } from "./stage.ts";
import type { ZooProgram } from "./zoo-program.ts";

const GENERATIONS_PER_ROUND = 10;

/** What the course found out about one program. */
export interface CourseResult {
  version: string;
  pauseMsP50: number;
  restoreMs: number;
  generations: number;
}

/**
 * Takes a program through the course: checkpoint while running, change, restore; two forks that
 * diverge; ten generations in each round. Throws where a state is not the one that was captured,
 * with the screen and the processes of all sessions of the course.
 */
export async function takeThroughCourse(
  program: ZooProgram,
  base: Checkpoint,
  rounds: number,
): Promise<CourseResult> {
  const course = new Course(program);
  try {
    const result = await course.take(base, GENERATIONS_PER_ROUND * rounds);
    await course.removeAll();
    return result;
  } catch (failure) {
    const explained = await explainFailure(failure, course);
    // The first failure is the one to see; what is left ends with the test's Waypoint.
    await course.removeAll().catch(() => {});
    throw explained;
  }
}

/** One program on its way, and the sessions that it has by now. */
class Course {
  readonly stages: Stage[] = [];
  /** What is being done, for a failure. */
  step = "the start";
  readonly #program: ZooProgram;
  readonly #pausesMs: number[] = [];

  constructor(program: ZooProgram) {
    this.#program = program;
  }

  async take(base: Checkpoint, generations: number): Promise<CourseResult> {
    const original = await this.#branch(base);
    const version = firstLine(await original.run(this.#program.version));
    await this.#program.start(original);
    const before = await this.#change(original, "first");
    const checkpoint = await this.#capture(original);

    await this.#change(original, "lost");
    this.step = "the restore in place";
    const { readyMs } = await original.session.restore(checkpoint, { whileTyping: true });
    await this.#requireState(original, before);

    const left = await this.#diverge(original, checkpoint, before);
    const last = await this.#descend(left, generations);
    for (const [stage, name] of [
      [last, "the last generation"],
      [original, "the original"],
    ] as const) {
      this.step = `the end of ${name}`;
      await this.#program.finish?.(stage);
    }
    return { version, pauseMsP50: median(this.#pausesMs), restoreMs: readyMs, generations };
  }

  async removeAll(): Promise<void> {
    for (const stage of [...this.stages]) await this.#remove(stage);
  }

  /** Makes two forks that change on their own, and returns one of them. */
  async #diverge(original: Stage, checkpoint: Checkpoint, before: string): Promise<Stage> {
    this.step = "two forks";
    const left = await this.#branch(checkpoint);
    const right = await this.#branch(checkpoint);
    await this.#change(left, "left");
    await this.#change(right, "right");
    const states = await Promise.all([this.#program.see(left), this.#program.see(right)]);
    if (states[0].includes("right") || states[1].includes("left")) {
      throw new Error(`the forks are not apart: ${JSON.stringify(states)}`);
    }
    await this.#requireState(original, before);
    await this.#remove(right);
    return left;
  }

  /** Goes on in a fork of a fork of a fork; each former one is removed. */
  async #descend(from: Stage, generations: number): Promise<Stage> {
    let stage = from;
    for (let generation = 1; generation <= generations; generation += 1) {
      const state = await this.#change(stage, `gen${generation}`);
      this.step = `the checkpoint of generation ${generation}`;
      const checkpoint = await this.#capture(stage);
      this.step = `the fork of generation ${generation}`;
      const next = await this.#branch(checkpoint);
      await this.#remove(stage);
      await this.#requireState(next, state);
      stage = next;
    }
    return stage;
  }

  async #branch(checkpoint: Checkpoint): Promise<Stage> {
    const stage = await Stage.fork(checkpoint);
    this.stages.push(stage);
    return stage;
  }

  async #capture(stage: Stage): Promise<Checkpoint> {
    const checkpoint = await stage.session.checkpoint();
    this.#pausesMs.push(checkpoint.info.pauseMs ?? 0);
    return checkpoint;
  }

  async #change(stage: Stage, mark: string): Promise<string> {
    this.step = `the change to ${mark}`;
    const { change, see } = this.#program;
    await change(stage, mark);
    return await stage.sees(see, (state) => state.includes(mark), "the changed state");
  }

  async #requireState(stage: Stage, state: string): Promise<void> {
    const what = `the captured state ${JSON.stringify(state)}`;
    await stage.sees(this.#program.see, (now) => now === state, what);
  }

  async #remove(stage: Stage): Promise<void> {
    await stage.remove();
    this.stages.splice(this.stages.indexOf(stage), 1);
  }
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? 0;
}

/** Returns the first line, in which any white space is one space. */
function firstLine(text: string): string {
  return (text.trim().split("\n", 1)[0] ?? "").replace(/\s+/g, " ");
}
