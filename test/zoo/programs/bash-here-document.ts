import type { ZooProgram } from "../zoo-program.ts";

/** A here-document of which some lines are typed. */
export const bashHereDocument: ZooProgram = {
  name: "bash, a here-document half typed",
  version: "bash --version",
  start: async (stage) => {
    await stage.enter("clear; cat > /root/letter << THE-END");
    await stage.terminal.waitFor(/^> $/);
  },
  see: async (stage) => stage.lines(/^> dear|THE-END$/),
  change: (stage, mark) => stage.enter(`dear ${mark}`),
  finish: async (stage) => {
    await stage.enter("THE-END");
    await stage.until("cat /root/letter", /^dear first$/m);
  },
};
