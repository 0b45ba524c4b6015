import type { ZooProgram } from "../zoo-program.ts";

const ADMIN = "http://127.0.0.1:2019";
const CONFIGURATION = JSON.stringify({
  apps: {
    http: {
      servers: {
        zoo: {
          listen: ["127.0.0.1:7000"],
          automatic_https: { disable: true },
          routes: [{ handle: [{ handler: "static_response", body: "none" }] }],
        },
      },
    },
  },
});

/** A program in Go; what it answers is changed over its own interface, in memory only. */
export const caddy: ZooProgram = {
  name: "Caddy, a server in Go",
  version: "caddy version",
  start: async (stage) => {
    await stage.write("/root/caddy.json", CONFIGURATION);
    await stage.background("exec caddy run --config /root/caddy.json");
    await stage.until("curl -sSf http://127.0.0.1:7000/", /none/);
  },
  see: (stage) => stage.run("curl -sSf http://127.0.0.1:7000/"),
  change: async (stage, mark) => {
    const body = `${ADMIN}/config/apps/http/servers/zoo/routes/0/handle/0/body`;
    await stage.run(
      `curl -sSf -X PATCH -H 'Content-Type: application/json' -d '"${mark}"' ${body}`,
    );
  },
};
