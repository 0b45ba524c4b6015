import type { ZooProgram } from "../zoo-program.ts";

const SOCKET = "/root/haproxy.sock";
const CONFIGURATION = `global
  stats socket ${SOCKET} mode 600 level admin
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
frontend zoo
  bind 127.0.0.1:7300
  http-request return status 200 content-type text/plain lf-string "%[str(fruit),map(/root/haproxy.map,none)]\\n"
`;
/** Sends a line to the socket of administrators, which haproxy binds aside and then renames. */
const ASK = `import socket, sys
admin = socket.socket(socket.AF_UNIX)
admin.settimeout(20)
admin.connect("${SOCKET}")
admin.sendall(sys.argv[1].encode() + b"\\n")
print(admin.makefile().read())
`;
const ask = (line: string) => `/usr/bin/python3 /root/haproxy.py '${line}'`;

/** A master and its worker; what it answers is changed through its socket, in memory only. */
export const haproxy: ZooProgram = {
  name: "HAProxy, master and worker",
  version: "haproxy -v",
  start: async (stage) => {
    await stage.write("/root/haproxy.cfg", CONFIGURATION);
    await stage.write("/root/haproxy.map", "fruit none\n");
    await stage.write("/root/haproxy.py", ASK);
    await stage.background("exec haproxy -W -f /root/haproxy.cfg");
    await stage.until(ask("show info"), /Uptime/);
  },
  see: async (stage) =>
    `${await stage.run(ask("show map /root/haproxy.map"))}${await stage.run("curl -sS http://127.0.0.1:7300/")}`,
  change: async (stage, mark) =>
    void (await stage.run(ask(`set map /root/haproxy.map fruit ${mark}`))),
};
