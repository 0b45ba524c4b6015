import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inPrivateNamespace, ROOT } from "./private-namespace.ts";

const DIRECTORY = "/run/hook";
const SOURCE = `${DIRECTORY}/store/source`;
const ROUNDS = 30;
const MEBIBYTE = 1024 * 1024;

inPrivateNamespace(import.meta.filename, { title: "the snapshot hook", network: false }, () => {
  beforeAll(() => {
    sh(`mkdir ${DIRECTORY}; cd ${DIRECTORY}; mkdir store
      gcc -O2 -static -o snapshot-hook ${ROOT}/native/criu-hooks/snapshot*.c
      truncate -s 512M store.img; mkfs.btrfs -q -m single store.img
      mount -o loop,noatime store.img store; btrfs -q subvolume create ${SOURCE}`);
  });
  afterAll(() => sh(`umount ${DIRECTORY}/store`));

  test("what is written as soon as it has ended is not in the snapshot", () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const parent = path.join(DIRECTORY, "store", `round-${round}`);
      mkdirSync(parent);
      // Data that has to be written out first makes the snapshot last.
      writeFileSync(`${SOURCE}/file`, "before");
      writeFileSync(`${SOURCE}/data`, Buffer.alloc(4 * MEBIBYTE, round + 1));

      // A shell goes on sooner than Node would.
      const { status, stderr } = runHook({
        target: path.join(parent, "fs"),
        andThen: `printf after! >${SOURCE}/file; : >${SOURCE}/new-${round}`,
      });

      expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
      // Reading the directory waits for the rest of the snapshot.
      expect(readdirSync(parent)).toEqual(["fs"]);
      expect(readFileSync(path.join(parent, "fs/file"), "utf8")).toBe("before");
      expect(readFileSync(path.join(parent, "fs/data"))[4 * MEBIBYTE - 1]).toBe(round + 1);
      expect(readdirSync(path.join(parent, "fs"))).not.toContain(`new-${round}`);
      expect(readFileSync(`${SOURCE}/file`, "utf8")).toBe("after!");
    }
  });

  test("a snapshot that cannot be made fails the hook, with the reason", () => {
    const parent = path.join(DIRECTORY, "store", "taken");
    mkdirSync(path.join(parent, "fs"), { recursive: true });

    const { status, stderr } = runHook({ target: path.join(parent, "fs") });

    expect({ status, stderr }).toEqual({ status: 1, stderr: "make the snapshot: File exists\n" });
  });

  test("the other stages of a dump are passed by", () => {
    expect(runHook({ target: `${DIRECTORY}/store/none`, action: "pre-dump" }).status).toBe(0);
    expect(readdirSync(`${DIRECTORY}/store`)).not.toContain("none");
  });
});

function runHook(options: { target: string; action?: string; andThen?: string }) {
  const { status, stderr } = spawnSync(
    "sh",
    ["-c", `${DIRECTORY}/snapshot-hook; status=$?; ${options.andThen ?? ":"}; exit $status`],
    {
      env: {
        CRTOOLS_SCRIPT_ACTION: options.action ?? "post-dump",
        WAYPOINT_SNAPSHOT_SOURCE: SOURCE,
        WAYPOINT_SNAPSHOT_TARGET: options.target,
      },
      encoding: "utf8",
    },
  );
  return { status, stderr };
}

function sh(script: string): void {
  const { status, stderr } = spawnSync("sh", ["-ec", script], { encoding: "utf8" });
  if (status !== 0) throw new Error(stderr);
}
