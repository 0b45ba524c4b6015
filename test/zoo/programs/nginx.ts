import { workProgram } from "../work-program.ts";

const SIZE_BYTES = 8 << 20;
const STEP_BYTES = 100_000;
const CONFIGURATION = `
worker_processes 2;
error_log /root/nginx.log;
events {}
http {
  access_log off;
  server {
    listen 8080;
    location / {
      proxy_pass http://127.0.0.1:8081;
      proxy_buffering off;
      proxy_read_timeout 1d;
    }
  }
}
`;
/** Sends half of a file, some more for each mark, and at the end the rest. */
const ORIGIN = `
import os, socket
body = os.urandom(${SIZE_BYTES})
open("/srv/original", "wb").write(body)
marks = os.fdopen(os.open("/srv/gate", os.O_RDWR), "r")
connection, _ = socket.create_server(("127.0.0.1", 8081)).accept()
connection.recv(65536)
connection.sendall(b"HTTP/1.0 200 OK\\r\\nContent-Length: ${SIZE_BYTES}\\r\\n\\r\\n")
sent, mark = 0, "half"
def send(until):
    global sent
    connection.sendall(body[sent:until])
    sent = until
    open("/srv/sent", "a").write(f"{sent} {mark}\\n")
send(${SIZE_BYTES} // 2)
while (mark := marks.readline().strip()) != "end": send(sent + ${STEP_BYTES})
send(${SIZE_BYTES})
`;
const ALL_ARRIVED = 'test "$(stat -c %s /srv/file)" = "$(tail -n 1 /srv/sent | cut -d " " -f 1)"';

/** Through nginx as a proxy: what was sent has arrived, and both connections are open. */
export const nginx = workProgram({
  name: "nginx, a download half done",
  version: "nginx -v 2>&1",
  prepare: async (stage) => {
    await stage.write("/root/nginx.conf", CONFIGURATION);
    await stage.write("/srv/origin.py", ORIGIN);
    await stage.run("mkfifo /srv/gate; nginx -c /root/nginx.conf");
  },
  command:
    "/usr/bin/python3 /srv/origin.py & curl -sSfN --retry 40 --retry-delay 1 --retry-all-errors -o /srv/file http://127.0.0.1:8080/ && wait $!",
  see: `pgrep -x curl && ${ALL_ARRIVED} && cat /srv/sent`,
  step: (mark) =>
    `echo ${mark} > /srv/gate; until grep -q ${mark} /srv/sent && ${ALL_ARRIVED}; do sleep 0.05; done`,
  end: "echo end > /srv/gate",
  check: "cmp /srv/file /srv/original && test -s /srv/file",
});
