import {
  chmodSync,
  chownSync,
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";
import { makeCharacterDevice, setXattr } from "../kernel/index.ts";

/** Character devices of a session: name, major, minor. */
const DEVICES: readonly (readonly [string, number, number])[] = [
  ["null", 1, 3],
  ["zero", 1, 5],
  ["full", 1, 7],
  ["random", 1, 8],
  ["urandom", 1, 9],
  ["tty", 5, 0],
];

const DEVICE_LINKS: readonly (readonly [string, string])[] = [
  ["ptmx", "pts/ptmx"],
  ["fd", "/proc/self/fd"],
  ["stdin", "/proc/self/fd/0"],
  ["stdout", "/proc/self/fd/1"],
  ["stderr", "/proc/self/fd/2"],
];

/** What a new session's upper directory is made from. */
export interface UpperOptions {
  upperDir: string;
  baseDir: string;
  /** Directory of the host to hide: Waypoint's own state. */
  stateDir: string;
  hostname: string;
  /** Content of /etc/resolv.conf; `null` keeps the base's. */
  resolvConf: string | null;
  initBinaryPath: string;
  bashRc: string;
}

/**
 * Fills the upper directory of a new session, before its overlay is mounted.
 *
 * The host's /run, /dev and Waypoint's state are covered by opaque directories: sockets of host
 * services and the store must not be reachable from inside. No tmpfs is used anywhere, since CRIU
 * archives each one with tar at every dump.
 */
export function prepareUpper(options: UpperOptions): void {
  const { upperDir, baseDir } = options;
  copyAttributes(baseDir, upperDir);
  makeDevices(upperDir);
  makeRuntimeDir(options);
  for (const mountPoint of ["proc", "sys"]) {
    if (!existsSync(path.join(baseDir, mountPoint))) mkdirSync(path.join(upperDir, mountPoint));
  }
  writeNames(options);
  coverDirectory(options, options.stateDir);
}

/**
 * Fills the upper directory of a new session's copy of one of the host's mounts.
 *
 * @param stateDir  hidden here too, where it lies on that mount.
 */
export function prepareMountUpper(options: {
  upperDir: string;
  baseDir: string;
  stateDir: string;
}): void {
  copyAttributes(options.baseDir, options.upperDir);
  coverDirectory(options, options.stateDir);
}

function makeDevices(upperDir: string): void {
  const devDir = makeOpaque(path.join(upperDir, "dev"));
  mkdirSync(path.join(devDir, "pts"));
  mkdirSync(path.join(devDir, "shm"));
  chmodSync(path.join(devDir, "shm"), 0o1777);
  for (const [name, major, minor] of DEVICES) {
    const devicePath = path.join(devDir, name);
    makeCharacterDevice(devicePath, major, minor);
    chmodSync(devicePath, 0o666);
  }
  for (const [name, target] of DEVICE_LINKS) symlinkSync(target, path.join(devDir, name));
}

function makeRuntimeDir({ upperDir, initBinaryPath, bashRc }: UpperOptions): void {
  const runDir = makeOpaque(path.join(upperDir, "run"));
  mkdirSync(path.join(runDir, "lock"));
  chmodSync(path.join(runDir, "lock"), 0o1777);
  const ownDir = path.join(runDir, "waypoint");
  mkdirSync(ownDir, { mode: 0o755 });
  copyFileSync(initBinaryPath, path.join(ownDir, "init"));
  chmodSync(path.join(ownDir, "init"), 0o755);
  writeFileSync(path.join(ownDir, "bashrc"), bashRc, { mode: 0o644 });
}

function writeNames(options: UpperOptions): void {
  const { upperDir, baseDir, hostname, resolvConf } = options;
  const etcDir = path.join(upperDir, "etc");
  makeLike(path.join(baseDir, "etc"), etcDir);
  writeFileSync(path.join(etcDir, "hostname"), `${hostname}\n`, { mode: 0o644 });
  const hosts = readIfThere(path.join(baseDir, "etc", "hosts")) ?? "127.0.0.1 localhost\n";
  const ownLine = `127.0.1.1 ${hostname}\n`;
  writeFileSync(path.join(etcDir, "hosts"), `${hosts.trimEnd()}\n${ownLine}`, { mode: 0o644 });
  if (resolvConf !== null) {
    writeFileSync(path.join(etcDir, "resolv.conf"), resolvConf, { mode: 0o644 });
  }
}

/** Covers a directory of the base by an empty one, where the base has it. */
function coverDirectory(
  { upperDir, baseDir }: { upperDir: string; baseDir: string },
  hiddenDir: string,
): void {
  const inside = path.relative(baseDir, hiddenDir);
  if (inside === "" || inside.startsWith("..")) return;
  let relative = "";
  const parts = inside.split(path.sep);
  for (const part of parts.slice(0, -1)) {
    relative = path.join(relative, part);
    makeLike(path.join(baseDir, relative), path.join(upperDir, relative));
  }
  makeOpaque(path.join(upperDir, inside));
}

/** Makes a directory that hides the one of the same name below it. */
function makeOpaque(directory: string): string {
  mkdirSync(directory, { mode: 0o755 });
  setXattr(directory, "trusted.overlay.opaque", "y");
  return directory;
}

function makeLike(modelDir: string, directory: string): void {
  if (existsSync(directory)) return;
  mkdirSync(directory);
  if (existsSync(modelDir)) copyAttributes(modelDir, directory);
}

function copyAttributes(modelPath: string, targetPath: string): void {
  const model = lstatSync(modelPath);
  chownSync(targetPath, model.uid, model.gid);
  chmodSync(targetPath, model.mode & 0o7777);
}

function readIfThere(filePath: string): string | null {
  return existsSync(filePath) ? readFileSync(filePath, "utf8") : null;
}
