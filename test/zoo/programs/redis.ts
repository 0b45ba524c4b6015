import type { ZooProgram } from "../zoo-program.ts";

/** With a subscriber connected on the terminal. */
export const redis: ZooProgram = {
  name: "Redis, a subscriber connected",
  version: "redis-server --version",
  start: async (stage) => {
    await stage.background("exec redis-server --save '' --dir /root");
    await stage.until("redis-cli ping", /PONG/);
    await stage.enter("clear; redis-cli subscribe news");
    await stage.terminal.waitFor(/"subscribe"/);
  },
  see: async (stage) =>
    `${await stage.run("redis-cli lrange fruit 0 -1")}\n${stage.lines(/"\w+"$/)}`,
  change: async (stage, mark) => {
    await stage.run(`redis-cli rpush fruit ${mark}; redis-cli publish news ${mark}`);
    await stage.terminal.waitFor(new RegExp(`"${mark}"`));
  },
};
