import { afterAll, beforeAll, expect, test } from "vitest";
import type { Changes, Session } from "../../src/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** What a story tells, each section in brief; files are those outside of what a test expects. */
interface Told {
  files: string[];
  packages: string[];
  processes: string[];
  ports: string[];
  connections: number;
  env: string[];
  functions: number;
  directory: boolean;
  virtualenv: boolean;
  git: string[];
  unknown: Record<string, string>;
}

const NOTHING: Told = {
  ...{ files: [], packages: [], processes: [], ports: [], connections: 0, env: [], functions: 0 },
  ...{ directory: false, virtualenv: false, git: [], unknown: {} },
};

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  // The start-up files of this machine's user may do things of their own.
  const env = { HOME: "/nonexistent", PATH: process.env["PATH"] ?? "" };
  session = await own.waypoint.new({ name: "whole", net: "none", env });
  // Directories of the base through which the tests write are copied up by that.
  await session.exec(
    "cd /srv; git config --system user.name A; git config --system user.email a@b",
  );
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

async function run(line: string): Promise<void> {
  const { exitCode, stdout, stderr } = await session.exec(line);
  if (exitCode !== 0) throw new Error(`${line}: ${exitCode}\n${stdout}\n${stderr}`);
}

/**
 * Runs a line, and returns all that the story tells of it.
 *
 * @param expected  files that may have changed: what the program is known to write.
 */
async function toldOf(line: string, expected = /^$/): Promise<Told> {
  await session.checkpoint();
  await run(line);
  const { changes } = await (await session.checkpoint()).show();
  return brief(changes, expected);
}

function brief(changes: Changes, expected: RegExp): Told {
  const { files, packages, processes, ports, connections, env, functions, git } = changes;
  const named = (files ?? []).filter(({ path }) => !expected.test(path));
  return {
    files: named.map(({ change, path, from }) => [change, from ?? [], path].flat().join(" ")),
    packages: (packages ?? []).map(
      ({ manager, change, name, before, after }) =>
        `${manager} ${change} ${name} ${before ?? "-"} ${after ?? "-"}`,
    ),
    processes: [
      ...(processes?.started ?? []).map(({ command }) => `began ${command}`),
      ...(processes?.ended ?? []).map(({ command }) => `ended ${command}`),
    ],
    ports: [
      ...(ports?.opened ?? []).map(({ port }) => `opened ${port}`),
      ...(ports?.closed ?? []).map(({ port }) => `closed ${port}`),
    ],
    connections: (connections?.opened.length ?? -1) + (connections?.closed.length ?? -1),
    env: (env ?? []).map(({ name, before, after }) => `${name} ${before ?? "-"} ${after ?? "-"}`),
    functions: functions?.length ?? -1,
    directory: changes.cwd?.before !== changes.cwd?.after,
    virtualenv: changes.virtualenv?.before !== changes.virtualenv?.after,
    git: (git ?? []).map(
      ({ path, commits, dirty }) =>
        `${path} ${commits.map(({ subject }) => subject).join("+")} ${dirty.before} ${dirty.after}`,
    ),
    unknown: changes.unknown,
  };
}

const APT = "DEBIAN_FRONTEND=noninteractive apt-get -y -q --no-install-recommends";
const APT_FILES =
  /^\/(?:var\/(?:lib\/(?:dpkg|apt)|log|cache)|usr\/share\/wp-small|etc\/apt)(?:\/|$)/;

test("apt-get install of a package is that package, and nothing else", async () => {
  await run(
    [
      "mkdir -p /srv/deb/p/DEBIAN /srv/deb/p/usr/share/wp-small && cd /srv/deb",
      "printf '%s\\n' 'Package: wp-small' 'Version: 1.2-3' 'Architecture: all' " +
        "'Maintainer: nobody <nobody@example.com>' 'Description: a test' > p/DEBIAN/control",
      "echo small > p/usr/share/wp-small/file && dpkg-deb --build p wp-small.deb",
      "{ dpkg-deb -f wp-small.deb; echo 'Filename: ./wp-small.deb'; " +
        'echo "Size: $(stat -c %s wp-small.deb)"; ' +
        "echo \"SHA256: $(sha256sum wp-small.deb | cut -d' ' -f1)\"; echo; } > Packages",
      "echo 'deb [trusted=yes] file:/srv/deb ./' > /etc/apt/sources.list",
      "rm -rf /etc/apt/sources.list.d/*; apt-get update -q; cd /srv",
    ].join("\n"),
  );

  const told = await toldOf(`${APT} install wp-small`, APT_FILES);

  expect(told).toEqual({ ...NOTHING, packages: ["dpkg installed wp-small - 1.2-3"] });
});

test("npm install of a local directory is that package, and nothing else", async () => {
  await run(
    "mkdir -p /srv/app /srv/lib; cd /srv/app; " +
      `echo '{"name":"app","version":"1.0.0"}' > package.json; ` +
      `echo '{"name":"lib","version":"2.0.0"}' > /srv/lib/package.json; ` +
      "(cd /srv/lib && npm pack --pack-destination /srv > /dev/null); cd /srv",
  );

  const told = await toldOf(
    "(cd app && npm_config_cache=/srv/npm npm --offline --no-audit --no-fund install /srv/lib-2.0.0.tgz)",
    /^\/(?:srv\/(?:npm|app)|tmp\/node-compile-cache)(?:\/|$)/,
  );

  expect(told).toEqual({ ...NOTHING, packages: ["npm installed lib - 2.0.0"] });
});

const BACKEND = `
import os, zipfile
def build_wheel(directory, config_settings=None, metadata_directory=None):
    name = "small_thing-0.3-py3-none-any.whl"
    info = "small_thing-0.3.dist-info"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        wheel.writestr("small_thing.py", "VERSION = 3")
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: small-thing\\nVersion: 0.3\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
`;

test("pip install of a local directory is that package, and nothing else", async () => {
  await run(
    [
      "python3 -m venv /srv/venv && mkdir /srv/thing && cd /srv/thing",
      `printf '[build-system]\\nrequires=[]\\nbuild-backend="backend"\\nbackend-path=["."]\\n' > pyproject.toml`,
      `cat > backend.py <<'END'\n${BACKEND}END\ncd /srv`,
    ].join("\n"),
  );

  const told = await toldOf(
    "/srv/venv/bin/python -m pip --disable-pip-version-check --no-cache-dir install -q --no-index /srv/thing",
    /^\/srv\/(?:venv|thing)(?:\/|$)/,
  );

  expect(told).toEqual({ ...NOTHING, packages: ["pip installed small-thing - 0.3"] });
});

const SERVER =
  "import socket, signal; s = socket.create_server(('127.0.0.1', 4567)); open('/run/up', 'w'); signal.pause()";

test("a server that is started is a process and a port; killed, both are gone", async () => {
  await run(`cat > /srv/server.py <<'END'\n${SERVER}\nEND`);

  const started = await toldOf(
    "python3 -B /srv/server.py & until [ -e /run/up ]; do sleep 0.05; done",
    /^\/run\/up$/,
  );
  const killed = await toldOf("kill %1; wait %1; true");

  expect(started).toMatchObject({
    ...NOTHING,
    processes: [expect.stringMatching(/^began .*server.py$/)],
    ports: ["opened 4567"],
  });
  expect(killed).toMatchObject({
    ...NOTHING,
    processes: [expect.stringMatching(/^ended .*server.py$/)],
    ports: ["closed 4567"],
  });
});

test("an export is a variable, and nothing else", async () => {
  expect(await toldOf("export WP_COLOUR=blue; notExported=1")).toEqual({
    ...NOTHING,
    env: ["WP_COLOUR - blue"],
  });
});

test("a commit is a commit, and a clean work tree is clean before and after", async () => {
  await run(
    "git init -q /srv/repo; cd /srv/repo; echo 1 > a; git add a; git commit -qm first; cd /srv",
  );
  await run("cd /srv/repo");
  await session.checkpoint();

  const told = await toldOf(
    "echo 2 > a; git commit -qam 'second one'",
    /^\/srv\/repo(?:\/a|\/\.git.*)?$/,
  );

  expect(told).toEqual({ ...NOTHING, git: ["/srv/repo second one false false"] });
  await run("cd /srv; rm -rf repo");
});

test("a directory of 1,000 files that is renamed is one entry", async () => {
  await run("mkdir /srv/many; seq 1000 | (cd /srv/many; xargs touch)");

  expect(await toldOf("mv /srv/many /srv/moved")).toEqual({
    ...NOTHING,
    files: ["renamed /srv/many /srv/moved"],
  });
});

test("a file of 1 GB that is appended to is one entry", async () => {
  await run("truncate -s 1G /srv/large");

  expect(await toldOf("echo more >> /srv/large")).toEqual({
    ...NOTHING,
    files: ["modified /srv/large"],
  });
});

test("where nothing happens nothing is told", async () => {
  expect(await toldOf("true")).toEqual(NOTHING);
});
