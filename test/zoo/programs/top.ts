import type { Stage } from "../stage.ts";
import type { ZooProgram } from "../zoo-program.ts";

const see = async (stage: Stage) => [...new Set(stage.screen().match(/zoo-\w+/g))].sort().join(" ");

export const top: ZooProgram = {
  name: "top",
  version: "top -V",
  start: async (stage) => {
    await stage.enter("clear; top -c -d 0.5");
    await stage.terminal.waitFor(/^\s*PID USER/);
  },
  see,
  change: async (stage, mark) => {
    await stage.run(
      `pkill -x sleep; (exec -a zoo-${mark} sleep 100000) > /dev/null 2>&1 < /dev/null &`,
    );
    await stage.sees(see, (state) => state === `zoo-${mark}`, "a redrawn list");
  },
};
