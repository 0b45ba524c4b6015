import type { ZooProgram } from "../zoo-program.ts";

/** Takes away what was typed. */
const CLEAR_LINE = "\u0015";

/** The words come from a pipe, the keys from `/dev/tty`. */
export const fzf: ZooProgram = {
  name: "fzf",
  version: "fzf --version",
  start: async (stage) => {
    await stage.enter("clear; printf '%s\\n' first left other | fzf > /root/chosen");
    await stage.terminal.waitFor(/^ +3\/3/);
  },
  // The line below the list, which may point to an entry.
  see: async (stage) =>
    stage
      .lines(/^> \w*\s*$/)
      .split("\n")
      .at(-1) ?? "",
  change: async (stage, mark) => {
    await stage.terminal.type(`${CLEAR_LINE}${mark}`);
    await stage.terminal.waitFor(new RegExp(`^> ${mark}\\s*$`));
  },
  finish: async (stage) => {
    await stage.terminal.type(`${CLEAR_LINE}oth`);
    await stage.terminal.waitFor(/^ +1\/3/);
    // Enter takes what it points to, which may follow the number a moment later.
    await stage.terminal.waitFor(/^> other\s*$/);
    await stage.enter("");
    await stage.until("cat /root/chosen", /^other$/);
  },
};
