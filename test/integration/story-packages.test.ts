import { afterAll, beforeAll, expect, test } from "vitest";
import type { OperationOutput, PackageChange, Session } from "../../src/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

type Diff = OperationOutput<"diff">;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  // The start-up files of this machine's user may write files of their own.
  const env = { HOME: "/nonexistent", PATH: process.env["PATH"] ?? "" };
  session = await own.waypoint.new({ name: "packages", net: "none", env });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

async function run(line: string): Promise<void> {
  const { exitCode, stdout, stderr } = await session.exec(line);
  if (exitCode !== 0) throw new Error(`${line}: ${exitCode}\n${stdout}\n${stderr}`);
}

/** Runs a line in the session, and returns what it changed. */
async function changesOf(line: string): Promise<Diff> {
  const before = await session.checkpoint();
  await run(line);
  const after = await session.checkpoint();
  const { changes } = await after.show();
  const { from, to, ...diff } = await own.waypoint.diff(before, after);
  expect(diff.packages).toEqual(changes.packages);
  return { from, to, ...diff };
}

function brief({ packages }: Pick<Diff, "packages">) {
  return packages?.map(
    ({ manager, name, change, before, after, path, dependency }: PackageChange) =>
      [
        ...[manager, name, change, before ?? "-", after ?? "-", path ?? "system"],
        ...(dependency === true ? ["dependency"] : []),
      ].join(" "),
  );
}

/** Makes a package for dpkg that holds one file. */
function makeDeb(name: string, version: string, depends = ""): string {
  const control = [
    ...[`Package: ${name}`, `Version: ${version}`, "Architecture: all"],
    ...["Maintainer: nobody <nobody@example.com>", "Description: a test"],
    ...(depends === "" ? [] : [`Depends: ${depends}`]),
  ].join("\\n");
  const directory = `/srv/deb/${name}_${version}`;
  return (
    `mkdir -p ${directory}/DEBIAN ${directory}/usr/share/${name} && ` +
    `printf '${control}\\n' > ${directory}/DEBIAN/control && ` +
    `echo ${version} > ${directory}/usr/share/${name}/version && ` +
    `dpkg-deb --build ${directory} /srv/deb/${name}_${version}_all.deb`
  );
}

const APT =
  "DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends --allow-downgrades -q";

test("what apt installs, upgrades, downgrades and removes is told with its versions", async () => {
  await run(
    [
      ...[makeDeb("wp-lib", "1.0"), makeDeb("wp-app", "1.0~rc1-1", "wp-lib")],
      ...[makeDeb("wp-app", "1.0-1", "wp-lib"), "cd /srv/deb"],
      'for deb in *.deb; do dpkg-deb -f "$deb"; echo "Filename: ./$deb"',
      'echo "Size: $(stat -c %s $deb)"; echo "SHA256: $(sha256sum $deb | cut -d\' \' -f1)"; echo',
      "done > Packages",
      "echo 'deb [trusted=yes] file:/srv/deb ./' > /etc/apt/sources.list",
      "rm -rf /etc/apt/sources.list.d/*; apt-get update -q; cd /",
    ].join("\n"),
  );

  const installed = await changesOf(`${APT} install wp-app=1.0~rc1-1`);
  const upgraded = await changesOf(`${APT} install wp-app=1.0-1`);
  const downgraded = await changesOf(`${APT} install wp-app=1.0~rc1-1`);
  const removed = await changesOf(`${APT} autoremove --purge wp-app`);

  expect(brief(installed)).toEqual([
    "dpkg wp-app installed - 1.0~rc1-1 system",
    "dpkg wp-lib installed - 1.0 system dependency",
  ]);
  expect(installed.summary).toBe("wp-app installed, 2 packages");
  expect(brief(upgraded)).toEqual(["dpkg wp-app upgraded 1.0~rc1-1 1.0-1 system"]);
  expect(brief(downgraded)).toEqual(["dpkg wp-app downgraded 1.0-1 1.0~rc1-1 system"]);
  expect(brief(removed)).toEqual([
    "dpkg wp-app removed 1.0~rc1-1 - system",
    "dpkg wp-lib removed 1.0 - system dependency",
  ]);
});

test("what leaves only its settings is removed, and nothing is told of the files of a package", async () => {
  await run("dpkg -i /srv/deb/wp-lib_1.0_all.deb");

  const touched = await changesOf("echo changed > /usr/share/wp-lib/version");
  const removed = await changesOf("dpkg -r wp-lib");

  expect(brief(touched)).toEqual([]);
  expect(brief(removed)).toEqual(["dpkg wp-lib removed 1.0 - system"]);
  expect(removed.summary).toBe("wp-lib removed");
});

const NPM = "cd /srv/app && npm_config_cache=/srv/npm npm --offline --no-audit --no-fund";

test("npm installs a packed directory, links another, and takes both away", async () => {
  await run(
    [
      "mkdir -p /srv/app /srv/one /srv/two",
      `echo '{"name":"app","version":"1.0.0"}' > /srv/app/package.json`,
      `echo '{"name":"one","version":"1.0.0"}' > /srv/one/package.json`,
      `echo '{"name":"two","version":"2.0.0","dependencies":{}}' > /srv/two/package.json`,
    ].join("\n"),
  );
  const pack = "(cd /srv/one && npm pack --pack-destination /srv > /dev/null)";

  const installed = await changesOf(`${pack} && ${NPM} install /srv/one-1.0.0.tgz /srv/two`);
  const upgraded = await changesOf(
    `sed -i s/1.0.0/1.1.0/ /srv/one/package.json && ${pack} && ${NPM} install /srv/one-1.1.0.tgz`,
  );
  const removed = await changesOf(`${NPM} uninstall one two`);

  expect(brief(installed)).toEqual([
    "npm one installed - 1.0.0 /srv/app",
    "npm two installed - 2.0.0 /srv/app",
  ]);
  expect(brief(upgraded)).toEqual(["npm one upgraded 1.0.0 1.1.0 /srv/app"]);
  expect(brief(removed)).toEqual([
    "npm one removed 1.1.0 - /srv/app",
    "npm two removed 2.0.0 - /srv/app",
  ]);
});

test("a lock file alone counts as what it says, and a project that moved has installed nothing", async () => {
  const lock = (version: string) =>
    `echo '{"lockfileVersion":3,"packages":{"node_modules/a":{"version":"${version}"}}}' ` +
    "> /srv/locked/package-lock.json";

  const declared = await changesOf(`mkdir /srv/locked && ${lock("1.0.0")}`);
  const upgraded = await changesOf(lock("1.2.0"));
  const moved = await changesOf("mv /srv/locked /srv/moved");

  expect(brief(declared)).toEqual(["npm a installed - 1.0.0 /srv/locked"]);
  expect(brief(upgraded)).toEqual(["npm a upgraded 1.0.0 1.2.0 /srv/locked"]);
  expect(brief(moved)).toEqual([]);
});

test("a directory of packages that is put aside takes them away, and brings them back", async () => {
  await run(
    "mkdir -p /srv/aside/node_modules/x && cd /srv/aside && " +
      `echo '{"name":"x","version":"1.0.0"}' > node_modules/x/package.json; cd /`,
  );

  const gone = await changesOf("mv /srv/aside/node_modules /srv/aside/old");
  const back = await changesOf("mv /srv/aside/old /srv/aside/node_modules");

  expect(brief(gone)).toEqual(["npm x removed 1.0.0 - /srv/aside"]);
  expect(brief(back)).toEqual(["npm x installed - 1.0.0 /srv/aside"]);
});

const PYPROJECT =
  '[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n';

/** Builds a wheel without any tool that would have to be fetched. */
const BACKEND = `
import os, zipfile
def build_wheel(directory, config_settings=None, metadata_directory=None):
    version = open("VERSION").read().strip()
    name = f"local_thing-{version}-py3-none-any.whl"
    info = f"local_thing-{version}.dist-info"
    with zipfile.ZipFile(os.path.join(directory, name), "w") as wheel:
        wheel.writestr("local_thing.py", f"VERSION = '{version}'\\n")
        wheel.writestr(f"{info}/METADATA", f"Metadata-Version: 2.1\\nName: Local_Thing\\nVersion: {version}\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
`;

test("pip installs a directory into a virtual environment, upgrades and removes it", async () => {
  const pip = "/srv/venv/bin/python -m pip --disable-pip-version-check --no-cache-dir";
  await run(
    [
      "python3 -m venv /srv/venv && mkdir /srv/thing && cd /srv/thing && echo 1.0 > VERSION",
      `cat > pyproject.toml <<'END'\n${PYPROJECT}END`,
      `cat > backend.py <<'END'\n${BACKEND}END`,
    ].join("\n"),
  );

  const installed = await changesOf(`${pip} install --no-index /srv/thing`);
  const upgraded = await changesOf(
    `echo 1.1 > /srv/thing/VERSION && ${pip} install --no-index /srv/thing`,
  );
  const removed = await changesOf("/srv/venv/bin/python -m pip uninstall -y local-thing");

  expect(brief(installed)).toEqual(["pip Local_Thing installed - 1.0 /srv/venv"]);
  expect(brief(upgraded)).toEqual(["pip Local_Thing upgraded 1.0 1.1 /srv/venv"]);
  expect(brief(removed)).toEqual(["pip Local_Thing removed 1.1 - /srv/venv"]);
});

test("a damaged database is unknown with the reason, and the others stand", async () => {
  const damage = "cp /var/lib/dpkg/status /srv/status && truncate -s -9 /var/lib/dpkg/status";
  const alone = await changesOf(damage);
  const beside = await changesOf(
    "cp /srv/status /var/lib/dpkg/status; mkdir -p /srv/c && " +
      `printf '[[package]]\\nname = "serde"\\nversion = "1.0.0"\\nsource = "x"\\n' > /srv/c/Cargo.lock`,
  );

  expect(alone.packages).toBeNull();
  expect(alone.unknown["packages"]).toContain("/var/lib/dpkg/status: it cannot be read: it ends");
  expect(alone.files?.map(({ path }) => path)).toContain("/var/lib/dpkg/status");
  expect(brief(beside)).toEqual(["cargo serde installed - 1.0.0 /srv/c dependency"]);
  expect(beside.unknown["packages in /var/lib/dpkg/status"]).toContain("it ends within a line");
});

test("names and versions that are no text do no harm", async () => {
  const told = await changesOf(
    "mkdir -p /srv/bad/node_modules/y && cd /srv/bad/node_modules/y && " +
      `printf '{"name":"y","version":"1\\\\u001b[31m\\377"}' > package.json; cd /`,
  );

  expect(brief(told)).toEqual(["npm y installed - 1\u001b[31m\ufffd /srv/bad"]);
});

test("a path asked for tells the packages below it alone", async () => {
  const before = await session.checkpoint();
  await run(
    "for d in p q; do mkdir -p /srv/$d/node_modules/z; " +
      `echo '{"version":"1.0.0"}' > /srv/$d/node_modules/z/package.json; done`,
  );

  const below = await own.waypoint.diff(before, session, { path: "/srv/q" });

  expect(brief(below)).toEqual(["npm z installed - 1.0.0 /srv/q"]);
});
