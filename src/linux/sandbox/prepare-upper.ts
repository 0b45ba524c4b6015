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
import { COVERED_DIRS, hiddenBelow } from "./hidden-places.ts";
import { resolveInside } from "./resolve-inside.ts";
import { type Hidden, isBelow } from "./select-mounts.ts";

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

/** Made where the base lacks them: name and mode. */
const MISSING_DIRS: readonly (readonly [string, number])[] = [
  ["tmp", 0o1777],
  ["root", 0o700],
];

/** What a new session's upper directory is made from. */
export interface UpperOptions {
  upperDir: string;
  baseDir: string;
  /** What of the host to hide: Waypoint's own state. */
  hidden: Hidden;
  hostname: string;
  /** Content of /etc/resolv.conf; `null` keeps the base's. */
  resolvConf: string | null;
  initBinaryPath: string;
  /** What shells read at their start: content by path below /run/waypoint. */
  shellFiles: Readonly<Record<string, string>>;
  /** Shell of root where the base has no /etc/passwd. */
  shellPath: string;
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
  makeMissingDirs(options);
  writeNames(options);
  writeMissingUsers(options);
  coverHidden(options);
}

/**
 * Fills the upper directory of a new session's copy of one of the host's mounts.
 *
 * @param hidden  covered here too, where it lies on that mount.
 */
export function prepareMountUpper(options: {
  upperDir: string;
  baseDir: string;
  hidden: Hidden;
}): void {
  copyAttributes(options.baseDir, options.upperDir);
  coverHidden(options);
}

/** Tells whether a new session gets this directory even on a base without it. */
export function isMadeWhereMissing(baseDir: string, insidePath: string): boolean {
  const isExpected = MISSING_DIRS.some(([name]) => `/${name}` === insidePath);
  return isExpected && resolveInside(baseDir, insidePath) === null;
}

/** A base may be as little as one program: makes the directories that every program expects. */
function makeMissingDirs({ upperDir, baseDir }: UpperOptions): void {
  for (const mountPoint of ["proc", "sys"]) {
    // Where a link or a file stands in the base, the directory takes its place.
    if (!isDirectory(path.join(baseDir, mountPoint))) mkdirSync(path.join(upperDir, mountPoint));
  }
  for (const [name, mode] of MISSING_DIRS) {
    if (resolveInside(baseDir, `/${name}`) !== null) continue;
    const directory = path.join(upperDir, name);
    mkdirSync(directory);
    chmodSync(directory, mode);
  }
}

/** Without these files `id`, `whoami` and `su` know nobody, not even root. */
function writeMissingUsers({ upperDir, baseDir, shellPath }: UpperOptions): void {
  const files = [
    ["passwd", `root:x:0:0:root:/root:${shellPath}\n`],
    ["group", "root:x:0:\n"],
  ] as const;
  for (const [name, text] of files) {
    if (resolveInside(baseDir, `/etc/${name}`) !== null) continue;
    writeFileSync(path.join(upperDir, "etc", name), text, { mode: 0o644 });
  }
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

function makeRuntimeDir({ upperDir, initBinaryPath, shellFiles }: UpperOptions): void {
  const runDir = makeOpaque(path.join(upperDir, "run"));
  mkdirSync(path.join(runDir, "lock"));
  chmodSync(path.join(runDir, "lock"), 0o1777);
  const ownDir = path.join(runDir, "waypoint");
  mkdirSync(ownDir, { mode: 0o755 });
  copyFileSync(initBinaryPath, path.join(ownDir, "init"));
  chmodSync(path.join(ownDir, "init"), 0o755);
  for (const [name, text] of Object.entries(shellFiles)) {
    const filePath = path.join(ownDir, name);
    mkdirSync(path.dirname(filePath), { recursive: true, mode: 0o755 });
    writeFileSync(filePath, text, { mode: 0o644 });
  }
}

function writeNames(options: UpperOptions): void {
  const { upperDir, baseDir, hostname, resolvConf } = options;
  const etcDir = path.join(upperDir, "etc");
  makeLike(path.join(baseDir, "etc"), etcDir);
  writeFileSync(path.join(etcDir, "hostname"), `${hostname}\n`, { mode: 0o644 });
  const hosts = readInside(baseDir, "/etc/hosts") ?? "127.0.0.1 localhost\n";
  const ownLine = `127.0.1.1 ${hostname}\n`;
  writeFileSync(path.join(etcDir, "hosts"), `${hosts.trimEnd()}\n${ownLine}`, { mode: 0o644 });
  if (resolvConf !== null) {
    writeFileSync(path.join(etcDir, "resolv.conf"), resolvConf, { mode: 0o644 });
  }
}

/** Covers what is hidden by empty directories, wherever the base shows it. */
function coverHidden(options: { upperDir: string; baseDir: string; hidden: Hidden }): void {
  const { upperDir, baseDir } = options;
  for (const inside of hiddenBelow(baseDir, options.hidden)) {
    if (COVERED_DIRS.some((covered) => isBelow(inside, covered))) continue;
    let relative = "";
    for (const part of inside.split(path.sep).slice(0, -1)) {
      relative = path.join(relative, part);
      makeLike(path.join(baseDir, relative), path.join(upperDir, relative));
    }
    // Marked, since nobody can tell later what was hidden when this session began.
    setXattr(makeOpaque(path.join(upperDir, inside)), "trusted.waypoint.cover", "y");
  }
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

function isDirectory(hostPath: string): boolean {
  return lstatSync(hostPath, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

function readInside(baseDir: string, insidePath: string): string | null {
  const hostPath = resolveInside(baseDir, insidePath);
  return hostPath === null ? null : readFileSync(hostPath, "utf8");
}
