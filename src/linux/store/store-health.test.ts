import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { parseMountInfo } from "../../formats/proc/index.ts";
import { findMount, mountOf } from "./store-health.ts";

const MOUNTINFO = [
  "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw",
  "21 20 0:30 / /state rw - tmpfs tmpfs rw",
  "22 21 0:31 / /state/store rw,noatime - btrfs /dev/loop0 rw,space_cache=v2",
  "23 21 0:32 / /state/a\\040b rw - tmpfs none rw",
  "",
].join("\n");

const find = (text: string, directory: string) => findMount(parseMountInfo(text), directory);

test("the mount of a directory is the longest that holds it", () => {
  expect(find(MOUNTINFO, "/state/store")?.mountPoint).toBe("/state/store");
  expect(find(MOUNTINFO, "/state/stored")?.mountPoint).toBe("/state");
  expect(find(MOUNTINFO, "/state/a b")?.mountPoint).toBe("/state/a b");
  expect(find(MOUNTINFO, "/other")?.mountPoint).toBe("/");
});

test("of two mounts on one directory the last one counts", () => {
  const over = `${MOUNTINFO}24 22 0:33 / /state/store ro - tmpfs none ro\n`;

  expect(find(over, "/state/store")).toMatchObject({ type: "tmpfs", options: ["ro"] });
});

test("a directory behind a link is held by what holds the directory", () => {
  // A link in a mount of its own that leads back to the root.
  const behindLink = `/proc/self/root${tmpdir()}`;

  expect(mountOf(behindLink)).toEqual(mountOf(tmpdir()));
  expect(mountOf(behindLink)?.type).not.toBe("proc");
});
