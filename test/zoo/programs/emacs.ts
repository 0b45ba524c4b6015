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
    await stage.terminal.type("\u0018\u0013");
    // In a fork its lock of the file is one of another host's to it (docs/limits.md).
    const line = await stage.terminal.waitFor(/^Wrote |^.* locked by .*\(s, q, p, \?\)\?/);
    if (!line[0].startsWith("Wrote")) await stage.terminal.type("s");
    await stage.terminal.waitFor(/^Wrote /);
    await stage.terminal.type("\u0018\u0003");
    await stage.until("cat /root/letter", /^dear first$/m);
  },
};
