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
  { name: "musl-gcc", debianPackage: "musl-tools" },
];

/** A header of the C library, for the object that is preloaded into CRIU. */
const LIBC_HEADER_PATH = "/usr/include/stdio.h";

/** Returns the tools that this machine lacks. */
export function missingTools() {
  const missing = REQUIRED_COMMANDS.filter(({ name }) => findCommand(name) === null);
  if (existsSync(LIBC_HEADER_PATH)) return missing;
  return [...missing, { name: "stdio.h", debianPackage: "libc6-dev" }];
}
