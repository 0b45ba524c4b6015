import { serverProgram } from "./server-program.ts";
import type { ZooProgram } from "./zoo-program.ts";

const SERVE = `
from http.server import BaseHTTPRequestHandler, HTTPServer
class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        if "add=" in self.path: change(self.path.split("add=")[1])
        text = ("state " + see()).encode()
        self.send_response(200); self.send_header("Content-Length", str(len(text)))
        self.end_headers(); self.wfile.write(text)
    def log_message(self, *words): pass
HTTPServer(("127.0.0.1", 7000), Handler).serve_forever()
`;

/**
 * A Python program that holds objects of the kernel.
 *
 * @param body  Python that makes the objects and defines `see()` and `change(mark)`.
 */
export function pythonHolder(name: string, body: string): ZooProgram {
  return serverProgram({
    name,
    version: "/usr/bin/python3 --version",
    prepare: (stage) => stage.write("/root/holder.py", body + SERVE),
    command: "/usr/bin/python3 /root/holder.py",
    port: 7000,
  });
}
