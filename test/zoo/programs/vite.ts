import { NODE_24 } from "../base.ts";
import { inPage, startBrowser } from "../browser.ts";
import type { ZooProgram } from "../zoo-program.ts";

/** Remembers what it has shown: a page that was loaded anew would have forgotten. */
const MAIN = `
import { text } from "./text.js";
window.shown = [];
function show(now) {
  if (now !== shown.at(-1)) shown.push(now);
  document.body.textContent = now;
}
show(text);
import.meta.hot.accept("./text.js", (changed) => show(changed.text));
`;

/** The page is in a browser, connected to the dev server; a saved file changes what it shows. */
export const vite: ZooProgram = {
  name: "vite dev server, a hot-reloading page in Chromium",
  version: `${NODE_24} /srv/vite/node_modules/vite/bin/vite.js --version`,
  start: async (stage) => {
    await stage.write(
      "/srv/vite/index.html",
      '<body></body><script type="module" src="/main.js"></script>\n',
    );
    await stage.write("/srv/vite/main.js", MAIN);
    await stage.write("/srv/vite/text.js", 'export const text = "none";\n');
    await stage.run(
      `cd /srv/vite; setsid ${NODE_24} node_modules/vite/bin/vite.js --host 127.0.0.1 --port 5173 > /root/vite.log 2>&1 < /dev/null &`,
    );
    await stage.until("curl -sSf http://127.0.0.1:5173/main.js", /hot\.accept/);
    await startBrowser(stage, "http://127.0.0.1:5173/");
    await stage.until(inPage("shown.join()"), /^none$/);
  },
  see: (stage) => stage.run(inPage('shown.join() + " " + document.body.innerText')),
  change: async (stage, mark) => {
    // The watcher leaves out what is saved within 50 ms of the last: save until the page has it.
    const save = `echo 'export const text = "${mark}";' > /srv/vite/text.js; sleep 0.3`;
    await stage.until(`${save}; ${inPage("shown.join()")}`, new RegExp(`${mark}$`));
  },
};
