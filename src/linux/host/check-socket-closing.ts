import { runProcess } from "../../base/index.ts";
import { type HostCheck, passed } from "./host-check.ts";

const PROBE_TIMEOUT_MS = 10_000;
/** How long a closed connection may take to be noticed at its own end. */
const NOTICE_TIMEOUT_MS = 500;

/** Connects to itself, has `ss` close one end, and says how the connection ended. */
const PROBE = `
const { spawn } = require("node:child_process");
const { connect, createServer } = require("node:net");
const end = (word) => { process.stdout.write(word); process.exit(); };
const server = createServer((accepted) => accepted.on("error", () => {}));
server.listen(0, "127.0.0.1", () => {
  const client = connect(server.address().port, "127.0.0.1", () => {
    const own = ["sport", "=", ":" + client.localPort];
    const ss = spawn("ss", ["--kill", "--tcp", "state", "connected", ...own], { stdio: "ignore" });
    ss.on("error", () => end("untried"));
    ss.on("close", () => setTimeout(end, ${NOTICE_TIMEOUT_MS}, "alive"));
  });
  client.on("error", ({ code }) => end(code));
  client.on("close", () => end("closed"));
});
`;

/**
 * Tries whether the kernel closes a connection for somebody else (CONFIG_INET_DIAG_DESTROY), on a
 * connection in a network namespace of its own.
 */
export async function checkSocketClosing(): Promise<HostCheck> {
  const script = 'ip link set lo up && exec "$0" -e "$1"';
  const probe = ["sh", "-c", script, process.execPath, PROBE];
  try {
    const { stdout } = await runProcess(["unshare", "--net", "--", ...probe], {
      timeoutMs: PROBE_TIMEOUT_MS,
    });
    return describeSocketClosing(stdout);
  } catch {
    // Not root, or a program is missing: other checks say so.
    return describeSocketClosing("untried");
  }
}

/** Returns the check for how the connection ended: an error code, or what the probe says. */
export function describeSocketClosing(outcome: string): HostCheck {
  const id = "close-connections";
  if (outcome === "ECONNABORTED") return passed(id, "the kernel closes connections (tried)");
  if (outcome !== "alive") return passed(id, "could not be tried");
  return {
    id,
    ok: true,
    detail:
      "missing; a fork's or restored session's connections to the outside stay open, and its programs wait",
    fix: "Use a kernel with CONFIG_INET_DIAG_DESTROY, as distributions build theirs.",
  };
}
