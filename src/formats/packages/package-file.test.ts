import { expect, test } from "vitest";
import { findCargoFile } from "./cargo.ts";
import { findDpkgFile, listAutomatic } from "./dpkg.ts";
import { findGemFile } from "./gem.ts";
import { findGoFile } from "./go.ts";
import { findNpmFile, listAsked } from "./npm.ts";
import type { PackageFileFinder } from "./package-file.ts";
import { findPipFile } from "./pip.ts";

/** What a file tells: its environment, and its packages as `name version place`. */
function told(find: PackageFileFinder, path: string, content = "") {
  const file = find(path);
  if (file === null) return null;
  const listed = file.list(Buffer.from(content));
  return [
    file.environment,
    ...listed.map(({ name, version, key, isDependency }) =>
      [
        name,
        version,
        ...(key === undefined ? [] : [key]),
        ...(isDependency ? ["needed"] : []),
      ].join(" "),
    ),
  ];
}

const STATUS = [
  "Package: one\nStatus: install ok installed\nArchitecture: amd64\nVersion: 1:2-3\nDescription: x\n more\n",
  "Package: gone\nStatus: deinstall ok config-files\nArchitecture: all\nVersion: 1\n",
  "Package: half\nStatus: install ok triggers-pending\nArchitecture: all\nVersion: 2\n",
].join("\n");

test("dpkg's database is read, without what has left only its settings", () => {
  const single = "Package: base-files\nVersion: 12\nArchitecture: amd64";

  expect(told(findDpkgFile, "/var/lib/dpkg/status", STATUS)).toEqual([
    null,
    "one 1:2-3 one:amd64",
    "half 2 half:all",
  ]);
  expect(told(findDpkgFile, "/srv/root/var/lib/dpkg/status", "")).toEqual(["/srv/root"]);
  expect(told(findDpkgFile, "/var/lib/dpkg/status.d/base", single)).toEqual([
    null,
    "base-files 12 base-files:amd64",
  ]);
  expect(told(findDpkgFile, "/var/lib/dpkg/status-old", STATUS)).toBeNull();
  expect([
    ...listAutomatic(
      Buffer.from(
        "Package: a\nArchitecture: amd64\nAuto-Installed: 1\n\nPackage: b\nArchitecture: amd64\nAuto-Installed: 0\n",
      ),
    ),
  ]).toEqual(["a:amd64", "a:all"]);
});

test("a database of dpkg with more entries than there are packages is refused", () => {
  const entries = (count: number) =>
    Buffer.from("Package: x\nStatus: install ok installed\nVersion: 1\n\n".repeat(count));
  const file = findDpkgFile("/var/lib/dpkg/status");

  expect(file?.list(entries(100_000))).toHaveLength(100_000);
  expect(() => file?.list(entries(100_001))).toThrow("it has more than 100000 entries");
});

test("a damaged database of dpkg is refused with what is wrong", () => {
  const list = (text: string) => () => told(findDpkgFile, "/var/lib/dpkg/status", text);

  expect(list(STATUS.slice(0, -2))).toThrow("it ends within a line");
  expect(list(`${STATUS}\n\0\n`)).toThrow("it is no text");
  expect(list(`${STATUS}\nnonsense\n`)).toThrow("line 18 is no field");
  expect(list("Package: x\n\n")).toThrow("the entry of x is not complete");
  expect(list("Package: x\nStatus: install ok installed\n")).toThrow(
    "the entry of x has no version",
  );
});

test("npm's packages are told by their place, nested ones and links too", () => {
  const version = '{"name":"other","version":"1.0.0"}';

  expect(told(findNpmFile, "/srv/app/node_modules/@a/b/package.json", version)).toEqual([
    "/srv/app",
    "@a/b 1.0.0 node_modules/@a/b",
  ]);
  expect(told(findNpmFile, "/srv/app/node_modules/a/node_modules/b/package.json", version)).toEqual(
    ["/srv/app", "b 1.0.0 node_modules/a/node_modules/b"],
  );
  expect(told(findNpmFile, "/usr/local/lib/node_modules/npm/package.json", version)).toEqual([
    null,
    "npm 1.0.0 node_modules/npm",
  ]);
  for (const inside of ["a/lib/package.json", ".bin/package.json", "a/test/node_modules/x.json"]) {
    expect(told(findNpmFile, `/srv/app/node_modules/${inside}`)).toBeNull();
  }
});

test("npm's lock files of all versions are read", () => {
  const first = {
    lockfileVersion: 1,
    dependencies: { a: { version: "1.0.0", dependencies: { b: { version: "2.0.0" } } } },
  };
  const third = {
    lockfileVersion: 3,
    packages: {
      "": { name: "app" },
      "node_modules/a": { version: "1.0.0" },
      "node_modules/local": { resolved: "../local", link: true },
      "../local": { version: "3.0.0" },
    },
  };
  const listed = ["/srv", "a 1.0.0 node_modules/a"];

  expect(told(findNpmFile, "/srv/package-lock.json", JSON.stringify(first))).toEqual([
    ...listed,
    "b 2.0.0 node_modules/a/node_modules/b",
  ]);
  expect(told(findNpmFile, "/srv/package-lock.json", JSON.stringify(third))).toEqual([
    ...listed,
    "local 3.0.0 node_modules/local",
  ]);
  expect(told(findNpmFile, "/srv/node_modules/a/package-lock.json", "{}")).toBeNull();
  expect(() => told(findNpmFile, "/srv/package-lock.json", "{")).toThrow();
  expect([
    ...listAsked(Buffer.from('{"dependencies":{"a":"1"},"devDependencies":{"b":"*"}}')),
  ]).toEqual(["a", "b"]);
});

test("Python's packages are told by environment, without what others bring along", () => {
  const metadata = "Metadata-Version: 2.1\nName: Some_Pkg\nVersion: 1.5\n\nVersion: 9\n";
  const at = (dir: string) => told(findPipFile, `${dir}/some_pkg-1.5.dist-info/METADATA`, metadata);

  expect(at("/srv/venv/lib/python3.11/site-packages")).toEqual([
    "/srv/venv",
    "Some_Pkg 1.5 some-pkg",
  ]);
  expect(at("/usr/local/lib/python3.11/dist-packages")).toEqual([null, "Some_Pkg 1.5 some-pkg"]);
  expect(at("/srv/target")).toEqual(["/srv/target", "Some_Pkg 1.5 some-pkg"]);
  expect(at("/usr/lib/python3/dist-packages")).toBeNull();
  expect(at("/srv/venv/lib/python3.11/site-packages/setuptools/_vendor")).toBeNull();
  expect(told(findPipFile, "/v/lib/python3.9/site-packages/old-2.1-py3.9.egg-info")).toEqual([
    "/v",
    "old 2.1 old",
  ]);
  expect(told(findPipFile, "/srv/src/mine.egg-info/PKG-INFO", metadata)).toBeNull();
});

test("Rust's packages are those of lock files and of cargo install", () => {
  const lock = [
    'version = 3\n\n[[package]]\nname = "app"\nversion = "0.1.0"\ndependencies = [\n "serde",\n]\n',
    '[[package]]\nname = "serde"\nversion = "1.0.2"\nsource = "registry+x"\n',
    '[[package]]\nname = "itoa"\nversion = "1.0.9"\nsource = "registry+x"\n',
  ].join("\n");
  const installs = '{"installs":{"ripgrep 13.0.0 (registry+x)":{"bins":["rg"]}}}';

  expect(told(findCargoFile, "/srv/app/Cargo.lock", lock)).toEqual([
    "/srv/app",
    "serde 1.0.2",
    "itoa 1.0.9 needed",
  ]);
  expect(told(findCargoFile, "/root/.cargo/.crates2.json", installs)).toEqual([
    "/root/.cargo",
    "ripgrep 13.0.0",
  ]);
  expect(told(findCargoFile, "/root/.cargo/registry/src/x/y-1.0/Cargo.lock", lock)).toBeNull();
});

test("gems are told by their specifications, Go's modules by go.mod and what was downloaded", () => {
  const mod =
    "module example.com/app\n\ngo 1.21\n\nrequire example.com/one v1.2.3\n\nrequire (\n\texample.com/two v0.1.0 // indirect\n)\n";

  expect(
    told(findGemFile, "/var/lib/gems/3.1.0/specifications/nokogiri-1.15.4-x86_64-linux.gemspec"),
  ).toEqual([null, "nokogiri 1.15.4"]);
  expect(told(findGemFile, "/srv/g/specifications/rails-html-1.6.0.gemspec")).toEqual([
    "/srv/g",
    "rails-html 1.6.0",
  ]);
  expect(
    told(findGemFile, "/var/lib/gems/3.1.0/specifications/default/json-2.6.gemspec"),
  ).toBeNull();
  expect(told(findGoFile, "/srv/app/go.mod", mod)).toEqual([
    "/srv/app",
    "example.com/one v1.2.3",
    "example.com/two v0.1.0 needed",
  ]);
  expect(
    told(findGoFile, "/root/go/pkg/mod/cache/download/github.com/!burnt!sushi/toml/@v/v1.3.2.zip"),
  ).toEqual(["/root/go", "github.com/BurntSushi/toml v1.3.2 needed"]);
});
