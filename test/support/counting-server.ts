import type { Session } from "../../src/index.ts";
import { eventually } from "./test-waypoint.ts";

/** Counts its requests in memory, and answers each with its process id and the count. */
const PROGRAM = `
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

class Handler(BaseHTTPRequestHandler):
    count = 0

    def do_GET(self):
        Handler.count += 1
        self.send_response(200)
        self.end_headers()
        self.wfile.write(f"{os.getpid()} {Handler.count}".encode())

    def log_message(self, *words):
        pass

HTTPServer(("127.0.0.1", 8080), Handler).serve_forever()
`;

/** Asks the server that runs at the same moment, from a line of shell; prints "PID COUNT". */
export const ASK_SERVER =
  "python3 -c 'import urllib.request as u; print(u.urlopen(\"http://127.0.0.1:8080\").read().decode())'";

/** Starts a Python server in a session; it counts in memory how often it was asked. */
export async function startCountingServer(session: Session): Promise<void> {
  await session.exec(`cat > /root/server.py <<'END'\n${PROGRAM}\nEND`);
  // Not as a job of the shell, which would tell of its end.
  await session.exec("(python3 /root/server.py > /dev/null 2>&1 &)");
  await eventually(
    "the server to answer",
    () => session.exec(ASK_SERVER),
    ({ exitCode }) => exitCode === 0,
  );
}

/** Returns the server's process id and how often it was asked, this time included. */
export async function askServer(session: Session): Promise<{ pid: number; count: number }> {
  const { stdout } = await session.exec(ASK_SERVER);
  const [pid = 0, count = 0] = stdout.trim().split(" ").map(Number);
  return { pid, count };
}
