import type { Checkpoint, Waypoint } from "../../src/index.ts";
import type { TestBases } from "../support/bases.ts";
import type { Stage } from "./stage.ts";

/** A program that is taken through the common course (course.ts). */
export interface ZooProgram {
  /** As docs/compatibility.md calls it. */
  name: string;
  /** Line of shell whose first line of output says which version it is. */
  version: string;
  /**
   * Makes the checkpoint that it starts from.
   * @defaultValue the one with all programs on the host's own root (base.ts)
   */
  base?: (waypoint: Waypoint, bases: TestBases) => Promise<Checkpoint>;
  /** Starts it and resolves when it can be asked. */
  start: (stage: Stage) => Promise<void>;
  /** Returns its state, which stays the same while nobody changes it. */
  see: (stage: Stage) => Promise<string>;
  /** Changes it; what `see` returns from then on contains `mark`. */
  change: (stage: Stage, mark: string) => Promise<void>;
  /** Brings what is under way to its end, and throws if the end is wrong. */
  finish?: (stage: Stage) => Promise<void>;
}
