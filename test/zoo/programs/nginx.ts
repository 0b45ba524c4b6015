import { workProgram } from "../work-program.ts";

const CONFIGURATION = `
worker_processes 2;
error_log /root/nginx.log;
events {}
http { access_log off; server { listen 8080; root /srv/www; limit_rate 600k; } }
`;

/** Limited by the server to a minute; the client reads all that comes. */
export const nginx = workProgram({
  name: "nginx, a download half done",
  version: "nginx -v 2>&1",
  prepare: async (stage) => {
    await stage.write("/root/nginx.conf", CONFIGURATION);
    await stage.run("mkdir -p /srv/www; head -c 36M /dev/urandom > /srv/www/file");
    await stage.run("chmod 755 /srv /srv/www; nginx -c /root/nginx.conf");
  },
  command: "curl -sSf -o /srv/file http://127.0.0.1:8080/file",
  underWay: "pgrep -x curl && test -s /srv/file",
  check: "cmp /srv/file /srv/www/file && curl -sSI http://127.0.0.1:8080/file",
});
