import {
  appendFileSync,
  chmodSync,
  closeSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { toBytes } from "../../base/index.ts";
import * as kernel from "../../linux/kernel/index.ts";
import { CopyJob } from "../files/index.ts";
import {
  type CarryOutOptions,
  type Change,
  Changed,
  carryOut,
  identityOf,
  PutBack,
  statusOf,
  Target,
  versionAt,
} from "./index.ts";

const XATTR = "user.waypoint-test";

let root: string;
const at = (...names: string[]) => path.join(root, ...names);

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), "waypoint-changes-"));
  for (const name of ["tree/kept", "tree/gone", "tree/swapped", "new/made/deep", "new/kept"]) {
    mkdirSync(at(name), { recursive: true });
  }
  for (const name of ["file", "gone/in", "swapped/in"]) writeFileSync(at("tree", name), "old\n");
  for (const name of ["file", "made/deep/in", "swapped", "twin"])
    writeFileSync(at("new", name), "new\n");
  linkSync(at("new/twin"), at("new/other"));
  symlinkSync("made/deep", at("new/link"));
  chmodSync(at("new/file"), 0o640);
  chmodSync(at("new/kept"), 0o750);
  kernel.setXattr(at("new/kept"), XATTR, "theirs");
  kernel.setXattr(at("new/made"), XATTR, "theirs");
});

afterEach(() => rmSync(root, { recursive: true }));

/** Everything below a directory, with what a change may touch of it. */
function treeOf(directory: string): Record<string, unknown> {
  const found: Record<string, unknown> = {};
  for (const name of readdirSync(directory, { recursive: true, encoding: "utf8" }).sort()) {
    const place = path.join(directory, name);
    const status = lstatSync(place);
    const content = status.isFile()
      ? readFileSync(place, "utf8")
      : status.isSymbolicLink() && readlinkSync(place);
    const xattr = kernel.readXattr(toBytes(place), XATTR)?.toString() ?? null;
    found[name] = { mode: status.mode, links: status.isFile() ? status.nlink : 0, content, xattr };
  }
  return found;
}

function change(kind: Change["kind"], name: string, linkKey: string | null = null): Change {
  const status = kind === "mkdir" ? null : statusOf(at("tree", name));
  const before = status === null ? null : versionAt(at("tree", name));
  const identity = status === null || before === null ? null : identityOf(status, before);
  const after = kind === "delete" ? null : versionAt(at("new", name));
  return { ...{ number: 0, path: name, kind, identity, before, after }, merged: null, linkKey };
}

/** One of each kind, in an order in which they can be done. */
function allKinds(): Change[] {
  const swapped = { ...change("write", "swapped"), identity: null, before: null };
  const changes = [
    change("attributes", "kept"),
    ...[change("delete", "swapped/in"), change("delete", "swapped"), swapped],
    ...[change("mkdir", "made"), change("mkdir", "made/deep"), change("write", "made/deep/in")],
    ...[change("write", "file"), change("write", "link")],
    ...[change("write", "twin", "twins"), change("write", "other", "twins")],
    ...[change("delete", "gone/in"), change("delete", "gone")],
  ];
  return changes.map((each, number) => ({ ...each, number }));
}

/** Carries changes out; `look` is called before each one is staged and before each is carried out. */
async function carry(
  changes: readonly Change[],
  meanwhile: CarryOutOptions["meanwhile"],
  look: (count: number) => void = () => {},
) {
  let count = 0;
  const signal = {
    get aborted() {
      count += 1;
      look(count);
      return false;
    },
  } as AbortSignal;
  const fd = openSync(at("tree"), "r");
  const job = new CopyJob(
    fd,
    { owner: null, dropsPrivileges: false },
    { id: "t", signal, calls: kernel },
  );
  try {
    const options = { target: new Target(fd, kernel), job, id: "t", keeper: null, meanwhile };
    const done = await carryOut(changes, options);
    return { done: done.map((each) => each.path), leftOut: job.result.leftOut, looks: count };
  } finally {
    closeSync(fd);
  }
}

const failAt = (failing: number) => (count: number) => {
  if (count === failing) throw Object.assign(new Error("no room"), { code: "ENOSPC" });
};

test("one of each kind: all is new, with rights, attributes and links, and nothing beside it", async () => {
  const { done } = await carry(allKinds(), "refuse");

  expect(done).toHaveLength(13);
  expect(Object.keys(treeOf(at("tree")))).toEqual(Object.keys(treeOf(at("new"))));
  expect(treeOf(at("tree"))).toEqual(treeOf(at("new")));
});

describe.each(["refuse", "replace"] as const)("where changes meanwhile mean %s", (meanwhile) => {
  test("a failure at any step leaves all as it was", async () => {
    const before = treeOf(at("tree"));
    // Each change is looked at once before it is staged, files again while they are copied.
    for (let failing = 1, isFailed = true; isFailed; failing += 1) {
      const result = await carry(allKinds(), meanwhile, failAt(failing)).catch((error) => error);
      isFailed = result instanceof PutBack;
      if (isFailed) {
        expect(result).toMatchObject({ cause: { message: "no room" }, left: [] });
        expect({ failing, tree: treeOf(at("tree")) }).toEqual({ failing, tree: before });
      } else expect(failing).toBeGreaterThan(2 * 13);
    }
  });
});

/** Writes one file and then another, with something done between the two, when both are staged. */
async function writeTwo(between: () => void, failing = 0) {
  const changes = [change("write", "file"), change("write", "twin")].map((each, number) => ({
    ...each,
    number,
  }));
  // Two looks to stage each of them, then one before each takes its place.
  return await carry(changes, "replace", (count) => {
    if (count === 5) between();
    failAt(failing)(count);
  });
}

test("what is written meanwhile is replaced where that is asked for", async () => {
  const { leftOut } = await writeTwo(() => appendFileSync(at("tree/file"), "more\n"));

  expect(readFileSync(at("tree/file"), "utf8")).toBe("new\n");
  expect(leftOut).toEqual([]);
});

test("what was written meanwhile is there again when all is put back", async () => {
  const request = writeTwo(() => appendFileSync(at("tree/file"), "more\n"), 6);

  await expect(request).rejects.toBeInstanceOf(PutBack);
  expect(readFileSync(at("tree/file"), "utf8")).toBe("old\nmore\n");
  expect(readdirSync(at("tree")).sort()).toEqual(["file", "gone", "kept", "swapped"]);
});

test("a directory that is put in the place of a file meanwhile stays, and is named", async () => {
  const { done, leftOut } = await writeTwo(() => {
    rmSync(at("tree/file"));
    mkdirSync(at("tree/file"));
  });

  const reason = "something else was put in its place meanwhile";
  expect(leftOut).toEqual([{ path: "/file", reason }]);
  expect(done).toEqual(["twin"]);
  expect(readdirSync(at("tree")).sort()).toEqual(["file", "gone", "kept", "swapped", "twin"]);
});

test("a directory in which somebody puts something meanwhile is not removed", async () => {
  const changes = [change("delete", "gone/in"), { ...change("delete", "gone"), number: 1 }];
  const { leftOut } = await carry(changes, "replace", (count) => {
    if (count === 3) writeFileSync(at("tree/gone/other"), "own\n");
  });

  expect(leftOut).toEqual([{ path: "/gone", reason: "there is something else in it" }]);
  expect(readdirSync(at("tree/gone"))).toEqual(["other"]);
});

test.each([1, 3])(
  "a link in the place of a directory is not followed: put there at look %i",
  async (looked) => {
    mkdirSync(at("outside"));
    writeFileSync(at("new/kept/file"), "new\n");
    const changes = [change("write", "kept/file")];
    const { leftOut } = await carry(changes, "replace", (count) => {
      if (count !== looked) return;
      rmSync(at("tree/kept"), { recursive: true });
      symlinkSync(at("outside"), at("tree/kept"));
    });

    expect(leftOut).toHaveLength(1);
    expect(readdirSync(at("outside"))).toEqual([]);
  },
);

test("a file that somebody writes meanwhile is kept, and all else put back, where that is asked for", async () => {
  const changes = [change("write", "twin"), { ...change("write", "file"), number: 1 }];
  const request = carry(changes, "refuse", (count) => {
    if (count === 5) appendFileSync(at("tree/file"), "more\n");
  });

  await expect(request).rejects.toMatchObject({ cause: expect.any(Changed) });
  expect(readFileSync(at("tree/file"), "utf8")).toBe("old\nmore\n");
  expect(readdirSync(at("tree")).sort()).toEqual(["file", "gone", "kept", "swapped"]);
});

test("what is written to an open file that was just replaced is kept, and all else put back", async () => {
  const changes = [change("write", "file"), { ...change("write", "twin"), number: 1 }];
  const fd = openSync(at("tree/file"), "a");
  const request = carry(changes, "refuse", (count) => {
    // By the sixth look the first one has taken its place.
    if (count === 6) appendFileSync(fd, "more\n");
  });

  await expect(request).rejects.toMatchObject({ cause: expect.any(Changed), left: [] });
  closeSync(fd);
  expect(readFileSync(at("tree/file"), "utf8")).toBe("old\nmore\n");
  expect(readdirSync(at("tree")).sort()).toEqual(["file", "gone", "kept", "swapped"]);
});
