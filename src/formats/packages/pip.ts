import type { RawPath } from "../../base/index.ts";
import type { FoundPackage, PackageFileFinder } from "./package-file.ts";

const INSTALLED = /^(.*)\/([^/]+)\.(?:dist-info\/METADATA|egg-info\/PKG-INFO|egg-info)$/;
const PACKAGES_DIR = /^(.*?)(?:\/lib(?:64)?\/python[^/]*)?\/(?:site|dist)-packages(\/.*)?$/;
/** What is there belongs to dpkg, which tells of it. */
const DEBIAN_DIR = /\/usr\/lib\/python[^/]*\/dist-packages$/;
const SYSTEM: ReadonlySet<string> = new Set(["", "/usr", "/usr/local"]);

/** Packages that a Python installation, a virtual environment or a directory has. */
export const findPipFile: PackageFileFinder = (rawPath) => {
  const match = INSTALLED.exec(rawPath);
  if (match === null) return null;
  const [, directory = "", label = ""] = match;
  const [, prefix = directory, inside] = PACKAGES_DIR.exec(directory) ?? [];
  // Below a package lies what it brings along for itself; eggs elsewhere are somebody's sources.
  if (inside !== undefined || DEBIAN_DIR.test(directory)) return null;
  if (rawPath.includes(".egg-info") && !PACKAGES_DIR.test(directory)) return null;
  return {
    manager: "pip",
    environment: environmentOf(prefix),
    list: (content) => [describe(content.toString("utf8"), label)],
  };
};

function environmentOf(prefix: RawPath): RawPath | null {
  return SYSTEM.has(prefix) ? null : prefix;
}

/** Name and version are in the metadata, and in the directory's name. */
function describe(metadata: string, label: string): FoundPackage {
  const [headers = ""] = metadata.split(/\r?\n\r?\n/, 1);
  const field = (name: string) => new RegExp(`^${name}:[ \\t]*(\\S+)`, "im").exec(headers)?.[1];
  const [, labelName = label, labelVersion = ""] =
    /^(.+?)-([^-]+)(?:-py[\d.]+)?$/.exec(label) ?? [];
  const name = field("Name") ?? labelName;
  const version = field("Version") ?? labelVersion;
  if (version === "") throw new Error("it tells no version");
  return { name, version, key: name.toLowerCase().replace(/[-_.]+/g, "-") };
}
