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
  see: async (stage) => stage.lines(/^> \w*$/),
  change: async (stage, mark) => {
    await stage.terminal.type(`${CLEAR_LINE}${mark}`);
    await stage.terminal.waitFor(new RegExp(`^> ${mark}$`));
  },
  finish: async (stage) => {
    await stage.terminal.type(`${CLEAR_LINE}oth`);
    await stage.terminal.waitFor(/^ +1\/3/);
    await stage.enter("");
    await stage.until("cat /root/chosen", /^other$/);
  },
};
