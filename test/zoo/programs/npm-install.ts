import { NODE_24, NPM } from "../base.ts";
import { workProgram } from "../work-program.ts";

/** Has one package. Sends half of it, some more for each mark, and at the end the rest. */
const REGISTRY = `
const { createHash } = require("node:crypto");
const tarball = require("node:fs").readFileSync("/srv/registry/waits.tgz");
const integrity = "sha512-" + createHash("sha512").update(tarball).digest("base64");
const version = { name: "waits", version: "1.0.0", dist: {
  tarball: "http://127.0.0.1:4873/waits.tgz", integrity,
} };
const steps = { "/half": tarball.length >> 1, "/more": 4096, "/end": tarball.length };
let marks = "none", sent = 0, fetched = null;
function send(bytes) {
  fetched.write(tarball.subarray(sent, sent + bytes));
  sent = Math.min(sent + bytes, tarball.length);
  if (sent === tarball.length) fetched.end();
}
require("node:http").createServer((request, response) => {
  const { pathname, search } = new URL(request.url, "http://x");
  if (pathname === "/waits") {
    response.end(JSON.stringify({
      name: "waits", "dist-tags": { latest: "1.0.0" }, versions: { "1.0.0": version },
    }));
  } else if (pathname === "/waits.tgz") {
    fetched = response.writeHead(200, { "content-length": tarball.length });
    send(steps["/half"]);
  } else {
    if (pathname in steps) send(steps[pathname]);
    marks += search;
    response.end(marks + " " + sent);
  }
}).listen(4873);
`;
/** Not made by npm, which would keep it in its cache and fetch nothing. */
const PREPARE = `
mkdir -p /srv/registry/package /srv/project; cd /srv/registry; head -c 2M /dev/urandom > package/data
echo '{"name":"waits","version":"1.0.0"}' > package/package.json; tar czf waits.tgz package
echo '{"dependencies":{"waits":"1.0.0"}}' > /srv/project/package.json
`;
const URL = "http://127.0.0.1:4873";
/** Nothing is on its way between npm and the registry. */
const ALL_ARRIVED = `test "$(ss -Htn '( sport = :4873 or dport = :4873 )' state established | awk '{ s += $1 + $2 } END { print s + 0 }')" = 0`;

/** The package's archive is half fetched and half unpacked. */
export const npmInstall = workProgram({
  name: "npm install, in the middle",
  version: `${NPM} --version 2> /dev/null`,
  prepare: async (stage) => {
    await stage.write("/srv/registry/registry.cjs", REGISTRY);
    await stage.run(PREPARE);
    await stage.run(
      `setsid ${NODE_24} /srv/registry/registry.cjs > /root/registry.log 2>&1 < /dev/null &`,
    );
    await stage.until(`curl -sSf ${URL}/state`, /none/);
  },
  command: `cd /srv/project; ${NPM} install --registry ${URL} --no-audit --no-fund --fetch-timeout 86400000 --fetch-retries 0`,
  see: `pgrep -f '^npm install' && ${ALL_ARRIVED} && ls /srv/project && curl -sSf ${URL}/state | grep -v ' 0$'`,
  step: (mark) => `curl -sSf '${URL}/more?${mark}'; until ${ALL_ARRIVED}; do sleep 0.05; done`,
  end: `curl -sSf ${URL}/end`,
  check: `cd /srv/project; ${NPM} ls waits && cmp node_modules/waits/data /srv/registry/package/data && grep sha512 package-lock.json`,
});
