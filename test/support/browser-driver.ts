/** A program of Node that evaluates its argument in the page of a browser, over the DevTools protocol. */
export const BROWSER_DRIVER = `
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

/** Returns what a Chromium is told that has one page, no window, and answers the driver. */
export function browserWords(profileDir: string, url: string): string {
  return [
    ..."--headless --no-sandbox --disable-gpu --no-first-run".split(" "),
    ...["--remote-debugging-port=9222", `--user-data-dir=${profileDir}`, url],
  ].join(" ");
}
