import type { RawPath } from "../../base/index.ts";
import {
  asRecord,
  asText,
  type FoundPackage,
  LIST_BYTES_MAX,
  type PackageFileFinder,
  parseJson,
} from "./package-file.ts";

const NAME = "(?:@[^/]+/)?[^/.@][^/]*";
const PLACE = `(?:\\.pnpm/[^/]+/node_modules/)?${NAME}(?:/node_modules/${NAME})*`;
const INSTALLED = new RegExp(`^(.*?)/(node_modules/${PLACE})/package\\.json$`);
const LOCK = /^(.*?)\/(?:package-lock|npm-shrinkwrap)\.json$/;
/** Nothing depends on another that deep. */
const DEPTH_MAX = 100;
/** Places of packages that are for everyone. */
const GLOBAL: ReadonlySet<string> = new Set(["/usr/lib", "/usr/local/lib", "/usr/share"]);

/** A package that is installed is a directory with a package.json; what should be, a lock file. */
export const findNpmFile: PackageFileFinder = (rawPath) => {
  const installed = INSTALLED.exec(rawPath);
  if (installed !== null) {
    const [, project = "", place = ""] = installed;
    return {
      manager: "npm",
      environment: environmentOf(project),
      list: (content) => listInstalled(content, place),
    };
  }
  const project = LOCK.exec(rawPath)?.[1];
  if (project === undefined || rawPath.includes("/node_modules/")) return null;
  const list = (content: Buffer) => listLock(parseJson(content));
  return {
    manager: "npm",
    environment: project || "/",
    bytesMax: LIST_BYTES_MAX,
    list,
    isDeclaration: true,
  };
};

/** Returns the package.json of a package that is a link to a directory elsewhere, or `null`. */
export function linkedPackageJson(rawPath: RawPath): RawPath | null {
  const packageJson = `${rawPath}/package.json`;
  return INSTALLED.test(packageJson) ? packageJson : null;
}

/** Returns the names that a project itself asks for, from its package.json. */
export function listAsked(content: Buffer): Set<string> {
  const project = parseJson(content);
  const kinds = ["dependencies", "devDependencies", "optionalDependencies", "peerDependencies"];
  return new Set(kinds.flatMap((kind) => Object.keys(asRecord(project[kind]) ?? {})));
}

function environmentOf(project: RawPath): RawPath | null {
  return GLOBAL.has(project) ? null : project || "/";
}

function listInstalled(content: Buffer, place: string): FoundPackage[] {
  const name = nameAt(place);
  const version = asText(parseJson(content)["version"]);
  return version === null ? [] : [{ name, version, key: place }];
}

function nameAt(place: string): string {
  return place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);
}

function listLock(lock: Record<string, unknown>): FoundPackage[] {
  const packages = asRecord(lock["packages"]);
  if (packages === null) return listNested(asRecord(lock["dependencies"]) ?? {}, "", 0);
  return Object.entries(packages).flatMap(([place, entry]) => {
    const facts = asRecord(entry) ?? {};
    if (!place.includes("node_modules/")) return [];
    const linked = asRecord(packages[asText(facts["resolved"]) ?? ""]);
    const version = asText((facts["link"] === true ? linked : facts)?.["version"]);
    return version === null ? [] : [{ name: nameAt(place), version, key: place }];
  });
}

/** Lock files of version 1 put what one package has for itself into its entry. */
function listNested(
  dependencies: Record<string, unknown>,
  below: string,
  depth: number,
): FoundPackage[] {
  if (depth > DEPTH_MAX) throw new Error("its packages are nested too deep");
  return Object.entries(dependencies).flatMap(([name, entry]) => {
    const facts = asRecord(entry) ?? {};
    const version = asText(facts["version"]);
    const key = `${below}node_modules/${name}`;
    const nested = listNested(asRecord(facts["dependencies"]) ?? {}, `${key}/`, depth + 1);
    return version === null ? nested : [{ name, version, key }, ...nested];
  });
}
