import type { PackageFileFinder } from "./package-file.ts";

const SPECIFICATION = /^(.*)\/specifications\/([^/]+?)-(\d[^-/]*)(?:-[^/]+)?\.gemspec$/;
/** What dpkg has put there, and what Ruby brings along. */
const FOREIGN = /\/usr\/share\/rubygems-integration\//;
const SYSTEM = /^(?:\/usr(?:\/local)?\/lib\/ruby|\/var\/lib\/gems|\/usr\/local\/bundle)(?:\/|$)/;

/** An installed gem is a specification named after it. */
export const findGemFile: PackageFileFinder = (rawPath) => {
  const match = SPECIFICATION.exec(rawPath);
  if (match === null || FOREIGN.test(rawPath)) return null;
  const [, directory = "", name = "", version = ""] = match;
  return {
    manager: "gem",
    environment: SYSTEM.test(directory) ? null : directory || "/",
    bytesMax: 0,
    list: () => [{ name, version }],
  };
};
