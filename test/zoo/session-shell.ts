import { SHELL_PACKAGES } from "../support/bases.ts";
import type { Evaluator } from "./terminal-program.ts";
import type { ZooProgram } from "./zoo-program.ts";

/** A shell that a session is started with, by `new --shell`. */
export interface SessionShell extends Pick<Evaluator, "setup" | "question" | "addition" | "ready"> {
  shell: string;
}

/**
 * Makes a program of the zoo of a session's own shell, on a base of Debian's packages that has it.
 *
 * It is asked on the terminal and by `exec`, which runs in the live shell too.
 */
export function sessionShell(own: SessionShell): ZooProgram {
  return {
    name: `${own.shell}, as the session's shell`,
    version: `${own.shell} --version`,
    base: async (waypoint, bases) => {
      const base = await bases.makeDebian(own.shell, SHELL_PACKAGES);
      const session = await waypoint.new({ base, shell: own.shell });
      return await session.checkpoint();
    },
    start: async (stage) => {
      await stage.terminal.waitFor(own.ready);
      for (const line of own.setup ?? []) await stage.enter(line);
      await stage.ask(own.question);
    },
    see: async (stage) => {
      const { stdout } = await stage.session.exec("pwd; echo $state; jobs");
      return `${await stage.ask(own.question)} ${stdout}`;
    },
    change: (stage, mark) => stage.enter(own.addition(mark)),
  };
}
