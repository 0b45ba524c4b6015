import { NODE_24 } from "../base.ts";
import type { ZooProgram } from "../zoo-program.ts";

/** What a page does: connects to the dev server and loads what that says has changed. */
const PAGE = `
const log = require("node:fs").createWriteStream("/root/page.log");
const socket = new WebSocket("ws://127.0.0.1:5173/", "vite-hmr");
socket.onmessage = async ({ data }) => {
  const message = JSON.parse(data);
  if (message.type === "connected") await load("loaded");
  if (message.type === "full-reload" || message.type === "update") await load(message.type);
};
let last = "";
async function load(why) {
  const text = await (await fetch("http://127.0.0.1:5173/main.js?t=" + Date.now())).text();
  const state = /state = "([^"]*)"/.exec(text)?.[1] ?? last;
  if (state !== last) log.write(why + " " + state + "\\n");
  last = state;
}
setInterval(() => {}, 1000);
`;

export const vite: ZooProgram = {
  name: "vite dev server, a page that reloads",
  version: "/srv/vite/node_modules/.bin/vite --version",
  start: async (stage) => {
    await stage.write("/srv/vite/index.html", '<script type="module" src="/main.js"></script>\n');
    await stage.write(
      "/srv/vite/main.js",
      'export const state = "none";\nimport.meta.hot?.accept();\n',
    );
    await stage.write("/root/page.cjs", PAGE);
    await stage.background(
      `cd /srv/vite; ${NODE_24} node_modules/vite/bin/vite.js --host 127.0.0.1 --port 5173 &
       until curl -sf http://127.0.0.1:5173/main.js; do sleep 0.1; done; ${NODE_24} /root/page.cjs`,
    );
    await stage.until("cat /root/page.log", /loaded none/);
  },
  see: (stage) => stage.run("cat /root/page.log"),
  change: async (stage, mark) => {
    const text = `export const state = "${mark}"; import.meta.hot?.accept();`;
    // The watcher leaves out what is saved within 50 ms of the last: save until the page has it.
    await stage.until(
      `echo '${text}' > /srv/vite/main.js; sleep 0.3; cat /root/page.log`,
      new RegExp(`${mark}$`),
    );
  },
};
