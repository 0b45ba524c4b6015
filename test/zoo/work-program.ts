import type { ZooProgram } from "./zoo-program.ts";

/** The work of several branches shares the machine with whatever else it does. */
const END_TIMEOUT_MS = 300_000;

/**
 * Work that is taken through the course in its middle, and must come to its right end in each
 * branch. It goes a step with each mark and then waits for the next, so that the course does not
 * depend on how fast the machine is.
 */
export interface Work extends Pick<ZooProgram, "name" | "version"> {
  prepare: ZooProgram["start"];
  /** Line of bash that does the work. */
  command: string;
  /** Line of bash that prints the marks it has got; fails if the work is not in its middle. */
  see: string;
  /** Line of bash that lets it do one more step. */
  step: (mark: string) => string;
  /** Line of bash that lets it go on to its end. */
  end: string;
  /** Line of bash that fails if the work did not end as it should. */
  check: string;
}

/** Makes a program of the zoo of work. */
export function workProgram(work: Work): ZooProgram {
  return {
    name: work.name,
    version: work.version,
    start: async (stage) => {
      await work.prepare(stage);
      await stage.background(`if { ${work.command}; } >&2; then echo right > /srv/ended; fi`);
      await stage.until(`${work.see} > /dev/null && echo yes`, /^yes$/m);
    },
    see: (stage) => stage.run(`[ ! -s /srv/ended ] && ${work.see}`),
    change: async (stage, mark) => void (await stage.run(work.step(mark))),
    finish: async (stage) => {
      await stage.run(work.end);
      await stage.until("cat /srv/ended", /^right$/, END_TIMEOUT_MS);
      await stage.run(work.check);
    },
  };
}
