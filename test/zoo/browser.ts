import { NODE_24 } from "./base.ts";
import type { Stage } from "./stage.ts";

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

/** Starts a headless Chromium in the background, with one page. */
export async function startBrowser(stage: Stage, url: string): Promise<void> {
  await stage.write("/root/driver.cjs", DRIVER);
  const options = [
    ..."--headless --no-sandbox --disable-gpu --no-first-run".split(" "),
    ..."--remote-debugging-port=9222 --user-data-dir=/root/profile".split(" "),
  ];
  await stage.background(`exec chromium ${options.join(" ")} ${url}`);
}

/** Returns a line of shell that evaluates JavaScript in the page, and prints the value. */
export function inPage(expression: string): string {
  return `${NODE_24} /root/driver.cjs '${expression}'`;
}
