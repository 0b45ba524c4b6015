import {
  asRecord,
  type FoundPackage,
  LIST_BYTES_MAX,
  type PackageFileFinder,
  parseJson,
} from "./package-file.ts";

const LOCK = /^(.*)\/Cargo\.lock$/;
const INSTALLED = /^(.*)\/\.crates2\.json$/;
/** Copies of other people's sources have lock files of their own. */
const FOREIGN = /\/(?:registry\/src|git\/checkouts|target\/package|vendor)\//;

/** What `cargo install` has installed, and what a project's lock file has. */
export const findCargoFile: PackageFileFinder = (rawPath) => {
  const [, installDir] = INSTALLED.exec(rawPath) ?? [];
  if (installDir !== undefined) {
    return {
      manager: "cargo",
      environment: installDir,
      bytesMax: LIST_BYTES_MAX,
      list: listInstalled,
    };
  }
  const [, project] = LOCK.exec(rawPath) ?? [];
  if (project === undefined || FOREIGN.test(rawPath)) return null;
  return {
    manager: "cargo",
    environment: project || "/",
    bytesMax: LIST_BYTES_MAX,
    list: listLock,
  };
};

function listInstalled(content: Buffer): FoundPackage[] {
  const installs = asRecord(parseJson(content)["installs"]) ?? {};
  return Object.keys(installs).map((install) => {
    const [name, version] = install.split(" ");
    if (name === undefined || version === undefined) throw new Error(`"${install}" has no version`);
    return { name, version };
  });
}

/** Packages without a source are the project's own. */
function listLock(content: Buffer): FoundPackage[] {
  const [, ...entries] = content.toString("utf8").split(/^\[\[package\]\][ \t]*\r?$/m);
  const packages = entries.map((entry) => {
    const field = (name: string) => new RegExp(`^${name} = "([^"]*)"`, "m").exec(entry)?.[1];
    const [name, version] = [field("name"), field("version")];
    if (name === undefined || version === undefined) throw new Error("an entry has no version");
    return { name, version, isOwn: field("source") === undefined, entry };
  });
  const asked = new Set(packages.filter(({ isOwn }) => isOwn).flatMap(({ entry }) => needs(entry)));
  return packages
    .filter(({ isOwn }) => !isOwn)
    .map(({ name, version }) => ({ name, version, isDependency: !asked.has(name) }));
}

/** Names that a package depends on; a version follows where there are several. */
function needs(entry: string): string[] {
  const list = /^dependencies = \[([^\]]*)\]/m.exec(entry)?.[1] ?? "";
  return [...list.matchAll(/"([^" ]+)[^"]*"/g)].map(([, name = ""]) => name);
}
