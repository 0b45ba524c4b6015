import type { ZooProgram } from "../zoo-program.ts";

/** Reads the directories of both panels again. */
const REREAD = "\u0012";

/** Both panels show a directory; its shell waits on a terminal of its own. */
export const mc: ZooProgram = {
  name: "Midnight Commander",
  version: "mc --version",
  start: async (stage) => {
    await stage.run("mkdir /root/zoo");
    await stage.enter("clear; mc -a /root/zoo /root/zoo");
    await stage.terminal.waitFor(/\/\.\./);
  },
  see: async (stage) => stage.lines(/\/zoo-\w/),
  change: async (stage, mark) => {
    await stage.run(`mkdir /root/zoo/zoo-${mark}`);
    await stage.terminal.type(REREAD);
  },
};
