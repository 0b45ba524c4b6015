import type { ZooProgram } from "../zoo-program.ts";

export const emacs: ZooProgram = {
  name: "emacs -nw",
  version: "emacs --version",
  start: async (stage) => {
    await stage.enter("clear; emacs -nw -Q /root/letter");
    await stage.terminal.waitFor(/-F1 +letter/);
  },
  see: async (stage) => stage.lines(/^dear/),
  change: (stage, mark) => stage.enter(`dear ${mark}`),
  finish: async (stage) => {
    await stage.terminal.type("\u0018\u0013\u0018\u0003");
    await stage.until("cat /root/letter", /^dear first$/m);
  },
};
