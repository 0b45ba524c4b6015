import path from "node:path";
import { BROWSER_DRIVER, browserWords } from "../../test/support/browser-driver.ts";
import { NotMeasured } from "../measuring/not-measured.ts";
import { findPeer, PEERS_DIR, peersEnvironment } from "../peers/peers-dir.ts";
import { inBackground, type UsedProgram } from "./program.ts";

const PAGE = "/tmp/page.html";
const DRIVER = "/tmp/driver.cjs";
/** The program itself: what lies in usr/bin is a script that looks for it in the system. */
const PEER_DIR = path.join(PEERS_DIR, "usr/lib/chromium");

/** Returns a headless Chromium with one page; to use it is to have the page changed by a script. */
export function browserProgram(): UsedProgram {
  const browser = findPeer("chromium", [PEER_DIR]);
  if (browser === undefined) {
    throw new NotMeasured("chromium is not installed (`npm run bench -- --install-peers`)");
  }
  const libraries = peersEnvironment().LD_LIBRARY_PATH ?? "";
  const env = `env HOME=/tmp LD_LIBRARY_PATH='${libraries}'`;
  const inPage = (expression: string) => `'${process.execPath}' ${DRIVER} '${expression}'`;
  return {
    files: {
      [PAGE]: Buffer.from("<body><script>window.state = []</script></body>\n"),
      [DRIVER]: Buffer.from(BROWSER_DRIVER),
    },
    start: inBackground(`${env} '${browser}' ${browserWords("/tmp/profile", `file://${PAGE}`)}`),
    isReady: `test "$(${inPage("JSON.stringify(state)")} 2>/dev/null)" = "[]"`,
    use: `${inPage('state.push(1); document.body.append("used ")')} >/dev/null`,
  };
}
