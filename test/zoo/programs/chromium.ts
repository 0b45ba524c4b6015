import { NODE_24 } from "../base.ts";
import type { ZooProgram } from "../zoo-program.ts";

/** Evaluates its argument in the page, over the DevTools protocol. */
const DRIVER = `
(async () => {
  const targets = await (await fetch("http://127.0.0.1:9222/json/list")).json();
  const page = targets.find(({ type }) => type === "page");
  const socket = new WebSocket(page.webSocketDebuggerUrl);
  socket.onopen = () => socket.send(JSON.stringify({
    id: 1, method: "Runtime.evaluate", params: { expression: process.argv[2] },
  }));
  socket.onmessage = ({ data }) => {
    const { id, result } = JSON.parse(data);
    if (id !== 1) return;
    console.log(result.result.value);
    socket.close();
  };
})();
`;
const evaluate = (expression: string) => `${NODE_24} /root/driver.cjs '${expression}'`;

/** State in a page's variables and elements, and in its storage on the disk. */
export const chromium: ZooProgram = {
  name: "Chromium, headless, driven over CDP",
  version: "chromium --version",
  start: async (stage) => {
    await stage.write("/srv/page/index.html", "<body><script>window.state = []</script></body>\n");
    await stage.write("/root/driver.cjs", DRIVER);
    await stage.background(
      "exec chromium --headless --no-sandbox --disable-gpu --remote-debugging-port=9222 --user-data-dir=/root/profile file:///srv/page/index.html",
    );
    await stage.until(evaluate("JSON.stringify(state)"), /^\[\]$/);
  },
  see: (stage) => stage.run(evaluate('state.join() + " " + document.body.innerText.trim()')),
  change: async (stage, mark) => {
    await stage.run(evaluate(`state.push("${mark}"); document.body.append("${mark} ")`));
  },
};
