import type { ZooProgram } from "../zoo-program.ts";

export const less: ZooProgram = {
  name: "less",
  version: "less --version",
  start: async (stage) => {
    await stage.run("seq -f 'line %g' 5000 > /root/lines");
    await stage.enter("clear; less /root/lines");
    await stage.terminal.waitFor(/^line 1$/);
  },
  see: async (stage) => stage.lines(/^\w+ \d+$/),
  change: async (stage, mark) => {
    await stage.run(`seq -f '${mark} %g' 5000 > /root/${mark}`);
    await stage.enter(`:e /root/${mark}`);
    await stage.terminal.waitFor(new RegExp(`^${mark} 1$`));
    // To a line and not by a page, which is a line shorter if less has just been told its size.
    await stage.enter("100g");
    // The last line of the page; the others are drawn before it.
    await stage.terminal.waitFor(new RegExp(`^${mark} 128$`));
  },
};
