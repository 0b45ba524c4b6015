import type { ZooProgram } from "../zoo-program.ts";

/** In insert mode all the time. */
export const vim: ZooProgram = {
  name: "vim, in insert mode",
  version: "vim --version",
  start: async (stage) => {
    await stage.enter("clear; vim --clean /root/letter");
    await stage.terminal.waitFor(/letter" \[New\]/);
    await stage.terminal.type("i");
    await stage.terminal.waitFor(/-- INSERT --/);
  },
  see: async (stage) => stage.lines(/^dear|-- INSERT --/),
  change: (stage, mark) => stage.enter(`dear ${mark}`),
  finish: async (stage) => {
    await stage.terminal.type("\u001b:wq\r");
    await stage.until("cat /root/letter", /^dear first$/m);
  },
};
