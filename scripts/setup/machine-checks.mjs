import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import os from "node:os";
import { isVersionAtLeast } from "./criu-record.mjs";
import { findCommand } from "./find-command.mjs";
import { missingTools } from "./required-tools.mjs";

/** The oldest kernel with the system calls that Waypoint makes (close_range with CLOEXEC). */
const KERNEL_VERSION_MIN = "5.11";

/** Bit of CAP_SYS_ADMIN in the capability sets of /proc/self/status. */
const CAP_SYS_ADMIN_BIT = 21n;

/** Checks that are a matter of rights; any other is a matter of the machine itself. */
export const PRIVILEGE_CHECKS = new Set(["root", "cap-sys-admin"]);

const NAMESPACES = ["mnt", "pid", "net", "uts", "ipc", "cgroup"];

/**
 * Returns what this machine must be and have before anything can be installed on it.
 *
 * Reads /proc only, except that a missing filesystem or loop driver is asked for with modprobe,
 * as a mount would do by itself. Needs a few milliseconds.
 *
 * @returns {{ id: string, ok: boolean, detail: string, fix: string | null }[]}
 */
export function checkMachine() {
  const platform = checkPlatform();
  if (!platform.ok) return [platform];
  return [
    platform,
    checkRoot(),
    checkAdminCapability(),
    checkKernelVersion(),
    checkFilesystem("btrfs", "Use a kernel with CONFIG_BTRFS_FS (Debian: linux-image-amd64)."),
    checkFilesystem("overlay", "Use a kernel with CONFIG_OVERLAY_FS."),
    checkLoop(),
    checkNamespaces(),
    checkCheckpointSupport(),
  ];
}

/** Returns the check for the commands that Waypoint calls; the set-up installs what is missing. */
export function checkTools() {
  const missing = missingTools();
  const packages = [...new Set(missing.map(({ debianPackage }) => debianPackage))];
  if (missing.length === 0) return passed("tools", "all there");
  const names = missing.map(({ name }) => name).join(", ");
  return failed("tools", `missing: ${names}`, `apt-get install ${packages.join(" ")}`);
}

function checkPlatform() {
  const what = `${process.platform} ${process.arch}`;
  const isGood = process.platform === "linux" && ["x64", "arm64"].includes(process.arch);
  if (isGood) return passed("platform", what);
  return failed("platform", what, "Use Linux on x86-64 or arm64, for instance in a VM.");
}

function checkRoot() {
  const uid = process.geteuid?.() ?? -1;
  if (uid === 0) return passed("root", "uid 0");
  return failed("root", `uid ${uid}`, "Run the same command as root, for instance with sudo.");
}

function checkAdminCapability() {
  const status = readFileSync("/proc/self/status", "utf8");
  const mask = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)/m.exec(status)?.[1] ?? "0"}`);
  if ((mask >> CAP_SYS_ADMIN_BIT) & 1n) return passed("cap-sys-admin", "present");
  return failed(
    "cap-sys-admin",
    "missing",
    "Run as root of the machine itself, or in a container started with --privileged.",
  );
}

function checkKernelVersion() {
  const release = os.release();
  const version = /^\d+\.\d+/.exec(release)?.[0] ?? "0";
  if (isVersionAtLeast(version, KERNEL_VERSION_MIN)) return passed("kernel", release);
  return failed("kernel", release, `Use Linux ${KERNEL_VERSION_MIN} or newer.`);
}

function checkFilesystem(name, fix) {
  if (isFilesystemKnown(name)) return passed(name, "available");
  loadModule(name);
  if (isFilesystemKnown(name)) return passed(name, "available (module loaded)");
  return failed(name, "the kernel does not have it", fix);
}

function isFilesystemKnown(name) {
  const lines = readFileSync("/proc/filesystems", "utf8").split("\n");
  return lines.some((line) => line.split("\t").at(-1) === name);
}

function checkLoop() {
  if (existsSync("/dev/loop-control")) return passed("loop", "available");
  loadModule("loop");
  if (existsSync("/dev/loop-control")) return passed("loop", "available (module loaded)");
  return failed(
    "loop",
    "/dev/loop-control is missing",
    "Use a kernel with CONFIG_BLK_DEV_LOOP; in a container, pass the host's loop devices in.",
  );
}

function checkNamespaces() {
  const missing = NAMESPACES.filter((name) => !existsSync(`/proc/self/ns/${name}`));
  if (missing.length === 0) return passed("namespaces", NAMESPACES.join(" "));
  return failed(
    "namespaces",
    `missing: ${missing.join(", ")}`,
    "Use a kernel with CONFIG_NAMESPACES.",
  );
}

/** Both files exist only with CONFIG_CHECKPOINT_RESTORE. */
function checkCheckpointSupport() {
  const needed = ["/proc/sys/kernel/ns_last_pid", "/proc/self/map_files"];
  const missing = needed.filter((file) => !existsSync(file));
  if (missing.length === 0) return passed("checkpoint", "CONFIG_CHECKPOINT_RESTORE");
  return failed(
    "checkpoint",
    `${missing.join(" and ")} missing`,
    "Use a kernel with CONFIG_CHECKPOINT_RESTORE; the distributions' own kernels have it.",
  );
}

function loadModule(name) {
  const modprobe = findCommand("modprobe");
  if (modprobe !== null) spawnSync(modprobe, ["-q", name], { stdio: "ignore", timeout: 10_000 });
}

function passed(id, detail) {
  return { id, ok: true, detail, fix: null };
}

function failed(id, detail, fix) {
  return { id, ok: false, detail, fix };
}
