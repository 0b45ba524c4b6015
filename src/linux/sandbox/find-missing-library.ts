import { readdirSync, readFileSync, statSync } from "node:fs";
import path from "node:path";
import { OpenBytes } from "../../base/index.ts";
import { ElfImage } from "../../formats/elf/index.ts";
import { resolveInside } from "./resolve-inside.ts";

/** Where loaders look without being told: glibc's directories, then musl's. */
const USUAL_DIRS = ["/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib", "/lib32"];
/** Files that tell a loader more directories, or the libraries themselves (the cache). */
const CONFIG_DIR = "/etc/ld.so.conf.d";
const CONFIG_FILES = ["/etc/ld.so.conf", "/etc/ld-musl-x86_64.path", "/etc/ld-musl-aarch64.path"];
const CACHE_FILE = "/etc/ld.so.cache";
const CACHE_BYTES_MAX = 16 * 1024 * 1024;
const CONFIG_BYTES_MAX = 64 * 1024;
/** A program of more libraries is taken to be all right. */
const LIBRARIES_MAX = 256;

/**
 * Finds a library that a program of a base, or a library of it, needs and the base does not have.
 *
 * It looks in every place that a loader may look in, whichever loader it is: a base that works is
 * never refused, one that lacks a library is mostly found.
 *
 * @returns the library's name and who needs it; `null` when nothing is missing.
 */
export function findMissingLibrary(
  baseDir: string,
  programPath: string,
): { name: string; neededBy: string } | null {
  const places = new LibraryPlaces(baseDir);
  const waiting = [{ insidePath: programPath, inheritedDirs: [] as string[] }];
  const seen = new Set<string>();
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    using bytes = new OpenBytes(resolveInside(baseDir, file.insidePath) ?? "/dev/null");
    const elf = new ElfImage(bytes.readAt);
    if (!elf.isElf || elf.isCutShort) continue;
    const { needed, searchDirs } = elf.dynamic();
    const origin = path.posix.dirname(file.insidePath);
    const own = searchDirs.map((dir) => dir.replace(/\$\{?ORIGIN\}?/g, origin));
    const dirs = [...own, ...file.inheritedDirs];
    for (const name of needed) {
      if (seen.has(name)) continue;
      seen.add(name);
      if (seen.size > LIBRARIES_MAX) return null;
      const found = places.find(name, elf.machine, dirs);
      if (found === null) return { name, neededBy: file.insidePath };
      waiting.push({ insidePath: found, inheritedDirs: dirs });
    }
  }
  return null;
}

/** The places of one base in which a loader may look. */
class LibraryPlaces {
  readonly #baseDir: string;
  #dirs: string[] | undefined;
  #cached: Set<string> | undefined;

  constructor(baseDir: string) {
    this.#baseDir = baseDir;
  }

  /** Returns the path of a library for the same machine, or `null`. */
  find(name: string, machine: number, firstDirs: readonly string[]): string | null {
    const isHere = (insidePath: string) => this.#isLibrary(insidePath, machine);
    if (name.includes("/")) return isHere(name) ? name : null;
    this.#dirs ??= this.#allDirs();
    const candidates = [...firstDirs, ...this.#dirs].map((dir) => path.posix.join(dir, name));
    const found = candidates.find(isHere);
    if (found !== undefined) return found;
    this.#cached ??= new Set(this.#cachePaths());
    return [...this.#cached].find((each) => each.endsWith(`/${name}`) && isHere(each)) ?? null;
  }

  #isLibrary(insidePath: string, machine: number): boolean {
    const hostPath = resolveInside(this.#baseDir, insidePath);
    if (hostPath === null || !statSync(hostPath).isFile()) return false;
    using bytes = new OpenBytes(hostPath);
    const elf = new ElfImage(bytes.readAt);
    return elf.isElf && !elf.isCutShort && elf.machine === machine;
  }

  #allDirs(): string[] {
    const multiarch = ["/lib", "/usr/lib"].flatMap((dir) =>
      this.#list(dir)
        .filter((name) => /^[a-z0-9_]+-linux-/.test(name))
        .map((name) => `${dir}/${name}`),
    );
    const configured = this.#list(CONFIG_DIR).map((name) => `${CONFIG_DIR}/${name}`);
    const told = [...CONFIG_FILES, ...configured].flatMap((file) =>
      this.#read(file, CONFIG_BYTES_MAX)
        .split(/[\n:]/)
        .map((line) => line.trim())
        .filter((line) => line.startsWith("/")),
    );
    return [...new Set([...multiarch, ...USUAL_DIRS, ...told])];
  }

  /** The cache ends with the paths of all libraries, each with a NUL behind it. */
  #cachePaths(): string[] {
    const parts = this.#read(CACHE_FILE, CACHE_BYTES_MAX).split("\0");
    return parts.filter((part) => part.startsWith("/"));
  }

  #list(insidePath: string): string[] {
    const hostPath = resolveInside(this.#baseDir, insidePath);
    if (hostPath === null || !statSync(hostPath).isDirectory()) return [];
    return readdirSync(hostPath);
  }

  #read(insidePath: string, sizeBytesMax: number): string {
    const hostPath = resolveInside(this.#baseDir, insidePath);
    if (hostPath === null) return "";
    const { size } = statSync(hostPath);
    return size > sizeBytesMax ? "" : readFileSync(hostPath, "latin1");
  }
}
