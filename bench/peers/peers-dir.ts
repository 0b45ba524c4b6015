import { accessSync, constants, existsSync } from "node:fs";
import path from "node:path";

/** Where `npm run bench -- --install-peers` puts them: beside the system, never into it. */
export const PEERS_DIR = path.resolve(import.meta.dirname, "../../.tools/peers");

const PROGRAM_DIRS = ["usr/bin", "usr/sbin", "usr/libexec/podman"];

/** Returns what the environment of a program from the peers' directory has more than ours. */
export function peersEnvironment(): { PATH: string; LD_LIBRARY_PATH?: string } {
  const systemPath = `${process.env["PATH"] ?? ""}:/usr/local/sbin:/usr/sbin:/sbin`;
  if (!existsSync(PEERS_DIR)) return { PATH: systemPath };
  const programs = PROGRAM_DIRS.map((place) => path.join(PEERS_DIR, place));
  return { PATH: `${programs.join(":")}:${systemPath}`, LD_LIBRARY_PATH: librariesDirs() };
}

function librariesDirs(): string {
  const triplet = process.arch === "arm64" ? "aarch64-linux-gnu" : "x86_64-linux-gnu";
  const libraries = path.join(PEERS_DIR, "usr/lib", triplet);
  // Sound has a directory of its own, which no browser starts without.
  return `${libraries}:${libraries}/pulseaudio`;
}

/** Returns the path of a peer's program, or undefined where it is not installed. */
export function findPeer(name: string, moreDirs: readonly string[] = []): string | undefined {
  const directories = [...moreDirs, ...peersEnvironment().PATH.split(":")];
  return directories.map((directory) => path.join(directory, name)).find(isProgram);
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
