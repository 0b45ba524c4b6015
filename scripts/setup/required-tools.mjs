import { existsSync } from "node:fs";
import { findCommand } from "./find-command.mjs";

/** The commands that Waypoint calls, with the Debian package that brings each. */
const REQUIRED_COMMANDS = [
  { name: "btrfs", debianPackage: "btrfs-progs" },
  { name: "mkfs.btrfs", debianPackage: "btrfs-progs" },
  { name: "ip", debianPackage: "iproute2" },
  { name: "nft", debianPackage: "nftables" },
  { name: "nsenter", debianPackage: "util-linux" },
  { name: "unshare", debianPackage: "util-linux" },
  { name: "setpriv", debianPackage: "util-linux" },
  { name: "flock", debianPackage: "util-linux" },
  { name: "losetup", debianPackage: "mount" },
  { name: "gcc", debianPackage: "gcc" },
];

/** Where the static C library lies, for the static program that runs inside a session. */
const STATIC_LIBC_PATHS = [
  "/usr/lib/x86_64-linux-gnu/libc.a",
  "/usr/lib/aarch64-linux-gnu/libc.a",
  "/usr/lib64/libc.a",
  "/usr/lib/libc.a",
];

/** Returns the tools that this machine lacks. */
export function missingTools() {
  const missing = REQUIRED_COMMANDS.filter(({ name }) => findCommand(name) === null);
  if (STATIC_LIBC_PATHS.some((file) => existsSync(file))) return missing;
  return [...missing, { name: "libc.a", debianPackage: "libc6-dev" }];
}
