import { inPage, startBrowser } from "../browser.ts";
import type { ZooProgram } from "../zoo-program.ts";

/** State in a page's variables and elements. */
export const chromium: ZooProgram = {
  name: "Chromium, headless, driven over CDP",
  version: "chromium --version",
  start: async (stage) => {
    await stage.write("/srv/page/index.html", "<body><script>window.state = []</script></body>\n");
    await startBrowser(stage, "file:///srv/page/index.html");
    await stage.until(inPage("JSON.stringify(state)"), /^\[\]$/);
  },
  see: (stage) => stage.run(inPage('state.join() + " " + document.body.innerText.trim()')),
  change: async (stage, mark) => {
    await stage.run(inPage(`state.push("${mark}"); document.body.append("${mark} ")`));
  },
};
