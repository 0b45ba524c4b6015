import type { ZooProgram } from "../zoo-program.ts";

/** It is told of what is appended by inotify. */
export const tail: ZooProgram = {
  name: "tail -f",
  version: "tail --version",
  start: async (stage) => {
    await stage.run("echo begin > /root/log");
    await stage.enter("clear; tail -f /root/log");
    await stage.terminal.waitFor(/^begin$/);
  },
  see: async (stage) => stage.lines(/^dear/),
  change: async (stage, mark) => void (await stage.run(`echo dear ${mark} >> /root/log`)),
};
