import type { ZooProgram } from "./zoo-program.ts";

/** The work of several branches shares the machine. */
const END_TIMEOUT_MS = 150_000;

/** Work that goes on by itself: it must still be under way in each branch, and end right. */
export interface Work extends Pick<ZooProgram, "name" | "version"> {
  prepare: ZooProgram["start"];
  /** Line of bash that does the work. */
  command: string;
  /** Line of bash that succeeds while the work is in its middle. */
  underWay: string;
  /** Line of bash that fails if the work did not end as it should. */
  check: string;
}

/** Makes a program of the zoo of work; the marks are files that are put beside it. */
export function workProgram(work: Work): ZooProgram {
  return {
    name: work.name,
    version: work.version,
    start: async (stage) => {
      await stage.run("mkdir -p /srv/marks");
      await work.prepare(stage);
      await stage.background(`if (${work.command}); then echo done > /srv/ended; fi`);
      await stage.until(`(${work.underWay}) && echo yes`, /^yes$/m);
    },
    see: (stage) =>
      stage.run(`[ ! -e /srv/ended ] && (${work.underWay}) > /dev/null && ls /srv/marks`),
    change: async (stage, mark) => void (await stage.run(`touch /srv/marks/${mark}`)),
    finish: async (stage) => {
      await stage.until("cat /srv/ended", /^done$/, END_TIMEOUT_MS);
      await stage.run(work.check);
    },
  };
}
