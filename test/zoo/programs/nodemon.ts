import { NODE_24, NPM } from "../base.ts";
import type { ZooProgram } from "../zoo-program.ts";

const PACKAGE = JSON.stringify({
  scripts: {
    dev: `${NODE_24} /srv/nodemon/node_modules/.bin/nodemon --watch state.cjs server.cjs`,
  },
});
const SERVER = `
const state = require("./state.cjs");
require("node:http").createServer((_, response) => response.end(state)).listen(7000);
`;

/** npm, a shell, the watcher and its server; a saved file starts the server anew. */
export const nodemon: ZooProgram = {
  name: "npm run dev, with nodemon",
  version: `${NODE_24} /srv/nodemon/node_modules/.bin/nodemon --version`,
  start: async (stage) => {
    await stage.write("/root/app/package.json", PACKAGE);
    await stage.write("/root/app/server.cjs", SERVER);
    await stage.write("/root/app/state.cjs", 'module.exports = "none";');
    await stage.background(
      `export PATH=${NODE_24.replace(/\/node$/, "")}:$PATH; cd /root/app; exec ${NPM} run dev`,
    );
    await stage.until("curl -sSf http://127.0.0.1:7000/", /none/);
  },
  see: (stage) => stage.run("curl -sSf http://127.0.0.1:7000/"),
  change: async (stage, mark) => {
    const save = `echo 'module.exports = "${mark}";' > /root/app/state.cjs`;
    // Between the old server and the new one nobody answers.
    await stage.run(save);
    await stage.until("curl -sSf http://127.0.0.1:7000/", new RegExp(`^${mark}$`));
  },
};
