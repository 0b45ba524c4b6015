import type { ZooProgram } from "../zoo-program.ts";

export const nano: ZooProgram = {
  name: "nano",
  version: "nano --version",
  start: async (stage) => {
    await stage.enter("clear; nano /root/letter");
    await stage.terminal.waitFor(/GNU nano/);
  },
  see: async (stage) => stage.screen(),
  change: (stage, mark) => stage.enter(`dear ${mark}`),
};
