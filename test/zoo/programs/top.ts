import type { ZooProgram } from "../zoo-program.ts";

export const top: ZooProgram = {
  name: "top",
  version: "top -V",
  start: async (stage) => {
    await stage.enter("clear; top -c -d 0.5");
    await stage.terminal.waitFor(/^\s*PID USER/);
  },
  see: async (stage) => [...new Set(stage.screen().match(/zoo-\w+/g))].sort().join(" "),
  change: async (stage, mark) => {
    await stage.run(
      `pkill -x sleep; (exec -a zoo-${mark} sleep 100000) > /dev/null 2>&1 < /dev/null &`,
    );
    await stage.terminal.waitFor(new RegExp(`zoo-${mark}`));
  },
};
