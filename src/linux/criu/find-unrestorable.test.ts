import { expect, test } from "vitest";
import type { WireMessage } from "../../formats/criu-images/index.ts";
import { findOrphan, findThreadFile, isPathOnly } from "./find-unrestorable.ts";

/** An entry of pstree.img: its process, that one's parent, its session. */
function entry(pid: number, parentPid: number, session: number): WireMessage {
  return new Map([
    [1, [BigInt(pid)]],
    [2, [BigInt(parentPid)]],
    [4, [BigInt(session)]],
  ]);
}

test("an orphan that another process than the first has adopted is found", () => {
  const shell = [entry(1, 0, 1), entry(5, 1, 5), entry(6, 5, 5)];

  expect(findOrphan([...shell, entry(9, 6, 8)])).toMatchObject({ pid: 9, reason: "orphan" });
});

test("orphans of the first process, and children from before setsid, are none", () => {
  const shell = [entry(1, 0, 1), entry(5, 1, 5), entry(6, 5, 5)];

  expect(findOrphan([...shell, entry(9, 1, 8)])).toBe(null);
  expect(findOrphan([...shell, entry(7, 6, 7), entry(8, 7, 5)])).toBe(null);
});

test("a file of a thread is found, a file of a process is none", () => {
  const file = (name: string): WireMessage => {
    const regular = Buffer.concat([Buffer.from([6 * 8 + 2, name.length]), Buffer.from(name)]);
    return new Map([[3, [regular]]]);
  };

  expect(findThreadFile([file("/proc/44/stat"), file("/srv/proc/4/task/4/stat")])).toBe(null);
  expect(findThreadFile([file("/proc/44/task/64/stat")])).toMatchObject({
    pid: 44,
    resource: "/proc/44/task/64/stat",
  });
});

test("a pipe and a terminal that are a path only are found, others are none", () => {
  const flags = { path: [0x18, 0x80, 0x80, 0x80, 0x01], plain: [0x18, 0x02] };
  const file = (field: number, bytes: number[]): WireMessage =>
    new Map([[field, [Buffer.from(bytes)]]]);

  expect([file(18, flags.path), file(19, flags.path)].map(isPathOnly)).toEqual([true, true]);
  expect([file(18, flags.plain), file(3, flags.path)].map(isPathOnly)).toEqual([false, false]);
});
