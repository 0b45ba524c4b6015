import type { ZooProgram } from "../zoo-program.ts";

/** The key at which nano learns of a new window is lost: a redraw, which does no harm. */
const REDRAW = "\u000c";

export const nano: ZooProgram = {
  name: "nano",
  version: "nano --version",
  start: async (stage) => {
    await stage.enter("clear; nano /root/letter");
    await stage.terminal.waitFor(/GNU nano/);
  },
  see: async (stage) => stage.lines(/^dear|GNU nano .* \*/),
  change: (stage, mark) => stage.enter(`${REDRAW}dear ${mark}`),
  finish: async (stage) => {
    await stage.terminal.type(`${REDRAW}\u000f\r\u0018`);
    await stage.until("cat /root/letter", /^dear first$/m);
  },
};
