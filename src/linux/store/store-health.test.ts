import { expect, test } from "vitest";
import { findMount } from "./store-health.ts";

const MOUNTINFO = [
  "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw",
  "21 20 0:30 / /state rw - tmpfs tmpfs rw",
  "22 21 0:31 / /state/store rw,noatime - btrfs /dev/loop0 rw,space_cache=v2",
  "23 21 0:32 / /state/a\\040b rw - tmpfs none rw",
  "",
].join("\n");

test("the mount of a directory is the longest that holds it", () => {
  expect(findMount(MOUNTINFO, "/state/store").mountPoint).toBe("/state/store");
  expect(findMount(MOUNTINFO, "/state/stored").mountPoint).toBe("/state");
  expect(findMount(MOUNTINFO, "/state/a b").mountPoint).toBe("/state/a b");
  expect(findMount(MOUNTINFO, "/other").mountPoint).toBe("/");
});

test("a filesystem that turned read-only below a writable mount is read-only", () => {
  const turned = MOUNTINFO.replace("/dev/loop0 rw", "/dev/loop0 ro");

  expect(findMount(MOUNTINFO, "/state/store").isReadOnly).toBe(false);
  expect(findMount(turned, "/state/store").isReadOnly).toBe(true);
});

test("of two mounts on one directory the last one counts", () => {
  const over = `${MOUNTINFO}24 22 0:33 / /state/store ro - tmpfs none ro\n`;

  expect(findMount(over, "/state/store")).toMatchObject({ type: "tmpfs", isReadOnly: true });
});
