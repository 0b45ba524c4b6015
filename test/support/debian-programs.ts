import { execFile } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);
const OUTPUT_BYTES_MAX = 16 * 1024 ** 2;

/** A program of Debian's, wherever it was found, and what has to be set to run it. */
export interface DebianProgram extends Disposable {
  path: string;
  env: NodeJS.ProcessEnv;
}

/** What is unpacked, and how many use it. */
const unpacked = new Map<string, { root: Promise<string>; users: number }>();

/**
 * Finds a program of this machine, or unpacks its package into a directory of the test's own:
 * nothing is installed. When all that were asked for are disposed of, it is removed.
 *
 * @param places  where it may be below a root; `*` stands for a version
 */
export async function findProgram(
  packageName: string,
  places: readonly string[],
): Promise<DebianProgram> {
  const installed = findBelow("/", places);
  if (installed !== null) {
    return { path: installed, env: process.env, [Symbol.dispose]: () => {} };
  }
  const shared = unpacked.get(packageName) ?? { root: unpack(packageName), users: 0 };
  unpacked.set(packageName, shared);
  shared.users += 1;
  const root = await shared.root;
  const program = findBelow(root, places);
  if (program === null) throw new Error(`${packageName} has none of ${places.join(", ")}`);
  const env = { ...process.env, LD_LIBRARY_PATH: librariesOf(root).join(":") };
  const dispose = () => {
    shared.users -= 1;
    if (shared.users > 0) return;
    unpacked.delete(packageName);
    rmSync(path.dirname(root), { recursive: true, force: true });
  };
  return { path: program, env, [Symbol.dispose]: dispose };
}

/** Returns the root below which the package lies, in a directory of its own. */
async function unpack(packageName: string): Promise<string> {
  const directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-debian-"));
  try {
    // Servers run as somebody else.
    chmodSync(directory, 0o755);
    const root = path.join(directory, "root");
    mkdirSync(root, { mode: 0o755 });
    await download(packageName, directory, root);
    return root;
  } catch (error) {
    rmSync(directory, { recursive: true, force: true });
    throw error;
  }
}

async function download(packageName: string, directory: string, root: string): Promise<void> {
  const archives = path.join(directory, "archives");
  const lists = path.join(directory, "lists");
  for (const each of [archives, lists]) mkdirSync(path.join(each, "partial"), { recursive: true });
  const own = {
    "APT::Sandbox::User": "root",
    "APT::Install-Recommends": "false",
    "Acquire::Retries": "3",
    "Debug::NoLocking": "1",
    "Dir::Cache::archives": archives,
    "Dir::Cache::pkgcache": "",
    "Dir::Cache::srcpkgcache": "",
    "Dir::State::Lists": lists,
  };
  const options = Object.entries(own).flatMap(([name, value]) => ["-o", `${name}=${value}`]);
  const apt = (...words: string[]) =>
    run("apt-get", [...options, "-q", ...words], { maxBuffer: OUTPUT_BYTES_MAX });
  await apt("update");
  // With what it needs and this machine lacks.
  await apt("-y", "--download-only", "install", packageName);
  for (const name of readdirSync(archives).filter((each) => each.endsWith(".deb"))) {
    await run("dpkg", ["-x", path.join(archives, name), root]);
  }
}

function findBelow(root: string, places: readonly string[]): string | null {
  const found = places.flatMap((place) => {
    const parts = place.split("/");
    return parts.reduce<string[]>(
      (above, part) =>
        above.flatMap((directory) => {
          if (part !== "*") return [path.join(directory, part)];
          return existsSync(directory)
            ? readdirSync(directory).map((name) => path.join(directory, name))
            : [];
        }),
      [root],
    );
  });
  return found.find((each) => existsSync(each)) ?? null;
}

function librariesOf(root: string): string[] {
  const machine = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  return ["usr/lib", "lib"].map((place) => path.join(root, place, machine));
}
