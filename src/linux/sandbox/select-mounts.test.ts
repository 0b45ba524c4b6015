import { expect, test } from "vitest";
import { parseMountInfo } from "../../formats/proc/index.ts";
import { selectHostMounts } from "./select-mounts.ts";

/** Lines of mountinfo: id, parent, device, root, mount point, type. */
function mountinfo(...lines: string[]): string {
  return lines
    .map((line) => {
      const [id, parent, device, root, point, type] = line.split(" ");
      return `${id} ${parent} ${device} ${root} ${point} rw,nosuid shared:1 - ${type} /dev/x rw\n`;
    })
    .join("");
}

function select(...lines: string[]): string[] {
  const mounts = parseMountInfo(mountinfo("1 0 8:1 / / ext4", ...lines));
  return selectHostMounts(mounts, {
    directories: ["/var/lib/waypoint"],
    places: [
      { device: "8:1", path: "/var/lib/waypoint" },
      { device: "7:0", path: "/" },
    ],
  });
}

test("mounts of real filesystems are selected, outer ones first", () => {
  const selected = select(
    "2 1 8:2 / /srv/data/deep xfs",
    "3 1 8:3 / /home ext4",
    "4 1 0:9 / /mnt/my\\040disk btrfs",
    "5 1 0:9 /sub /opt/sub btrfs",
  );

  expect(selected).toEqual(["/home", "/mnt/my disk", "/opt/sub", "/srv/data/deep"]);
});

test("what a session has of its own, or has no use for, is left out", () => {
  const selected = select(
    "2 1 0:1 / /proc proc",
    "3 1 0:2 / /run tmpfs",
    "4 3 8:2 / /run/media/stick ext4",
    "5 1 0:3 / /snap/core/1 squashfs",
    "6 1 0:4 / /var/lib/docker/overlay2/a/merged overlay",
    "7 1 7:0 / /var/lib/waypoint/store btrfs",
    "8 1 8:1 /var/lib/other/ns /var/lib/other/ns ext4",
    "9 1 8:3 / /mnt/a]b ext4",
  );

  expect(selected).toEqual([]);
});

test("what is hidden is left out under every name of it", () => {
  const selected = select(
    "2 1 8:1 /var/lib/waypoint /mnt/bound ext4",
    "3 1 8:1 /var/lib/waypoint/failed /mnt/deeper ext4",
    "4 1 7:0 / /mnt/store btrfs",
    "5 1 8:1 /var /mnt/above ext4",
  );

  expect(selected).toEqual(["/mnt/above"]);
});

test("a mount that another one hides is not seen", () => {
  const selected = select(
    "2 1 8:2 / /mnt/data ext4",
    "3 1 0:2 / /mnt tmpfs",
    "4 1 8:3 / /home ext4",
    "5 4 8:4 / /home xfs",
    "6 5 8:5 / /home/me xfs",
  );

  expect(selected).toEqual(["/home", "/home/me"]);
});

test("there are never more than a dump can bear", () => {
  const many = Array.from({ length: 40 }, (_, n) => `${n + 2} 1 9:${n} / /mnt/${n} ext4`);

  expect(select(...many)).toHaveLength(16);
});
