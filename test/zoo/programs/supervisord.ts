import type { ZooProgram } from "../zoo-program.ts";

const CONFIGURATION = `[unix_http_server]
file=/root/supervisor.sock
[supervisord]
nodaemon=true
logfile=/root/supervisord.log
pidfile=/root/supervisord.pid
childlogdir=/root
[rpcinterface:supervisor]
supervisor.rpcinterface_factory=supervisor.rpcinterface:make_main_rpcinterface
[supervisorctl]
serverurl=unix:///root/supervisor.sock
[program:fruit]
command=/bin/bash -c 'exec 3<> /root/fruit.fifo; while read -r line <&3; do echo "$line"; done'
`;
const CONTROL = "supervisorctl -c /root/supervisord.conf";

/** Asked through its socket, which it binds aside and then links into place. */
export const supervisord: ZooProgram = {
  name: "supervisord with a program",
  version: "supervisord --version",
  start: async (stage) => {
    await stage.write("/root/supervisord.conf", CONFIGURATION);
    await stage.run("mkfifo /root/fruit.fifo");
    await stage.background("exec supervisord -c /root/supervisord.conf");
    await stage.until(`${CONTROL} status`, /RUNNING/);
  },
  see: (stage) => stage.run(`${CONTROL} tail fruit; ${CONTROL} pid fruit`),
  change: async (stage, mark) => void (await stage.run(`echo ${mark} > /root/fruit.fifo`)),
};
