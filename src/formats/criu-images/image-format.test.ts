import { expect, test } from "vitest";
import {
  bytesField,
  messageField,
  numberField,
  numberFields,
  readImageEntries,
  stringField,
  withEntriesLast,
  withFields,
  withImageFields,
} from "./image-format.ts";

/** A tree of one process: two magic numbers, a length, then pid, ppid, pgid, sid and thread. */
const PSTREE = Buffer.from("19435654303027500a00000008011000180120012801", "hex");

test("the entries of a process tree are read", () => {
  const [root] = readImageEntries(PSTREE, "pstree");

  expect(root && [numberField(root, 1), numberField(root, 2), numberField(root, 5)]).toEqual([
    1, 0, 1,
  ]);
});

test("embedded messages, strings and large numbers are read", () => {
  const inner = Buffer.from([0x32, 0x02, 0x73, 0x68, 0x08, 0xff, 0xff, 0xff, 0xff, 0x0f]);
  const message = Buffer.concat([Buffer.from([0x1a, inner.length]), inner]);
  const header = Buffer.from([
    0x19,
    0x43,
    0x56,
    0x54,
    0x47,
    0x38,
    0x05,
    0x55,
    message.length,
    0,
    0,
    0,
  ]);

  const [core] = readImageEntries(Buffer.concat([header, message]), "core");
  const task = core && messageField(core, 3);

  expect(task && stringField(task, 6)).toBe("sh");
  expect(task && numberField(task, 1)).toBe(0xffffffff);
});

test("another kind of file and a cut one are refused", () => {
  expect(() => readImageEntries(PSTREE, "core")).toThrow("this is not a CRIU core image");
  expect(() => readImageEntries(Buffer.alloc(3), "core")).toThrow("this is not a CRIU core image");
  expect(() => readImageEntries(PSTREE.subarray(0, 15), "pstree")).toThrow("cut off");
  expect(() => readImageEntries(PSTREE.subarray(0, 10), "pstree")).toThrow("cut off");
});

test("repeated numbers are read one by one and packed", () => {
  const oneByOne = Buffer.from("19435654303027500400000058015802", "hex");
  const packed = Buffer.from("1943565430302750050000005a03018002", "hex");

  for (const [file, numbers] of [
    [oneByOne, [1, 2]],
    [packed, [1, 256]],
  ] as const) {
    const [entry] = readImageEntries(file, "pstree");
    expect(entry && numberFields(entry, 11)).toEqual(numbers);
  }
});

test("fields are set anew and taken away, in the messages that were chosen", () => {
  const file = Buffer.from("1943565430302750040000005a021801040000005a021802", "hex");
  const changed = withImageFields(file, "pstree", (message) => {
    const inner = bytesField(message, 11);
    if (inner === undefined || !inner.equals(Buffer.from([24, 2]))) return undefined;
    return [
      [
        11,
        [
          withFields(inner, [
            [3, []],
            [1000, [Buffer.from("name"), 300]],
          ]),
        ],
      ],
    ];
  });

  const [first, second] = readImageEntries(changed, "pstree").map((each) => messageField(each, 11));
  expect(first && numberField(first, 3)).toBe(1);
  expect(second?.has(3)).toBe(false);
  expect(second?.get(1000)).toEqual([Buffer.from("name"), 300n]);
});

test("entries that are chosen come last, each part in its order", () => {
  const entries = [3, 1, 4, 2].map((pid) => Buffer.from([2, 0, 0, 0, 8, pid]));
  const file = Buffer.concat([PSTREE.subarray(0, 8), ...entries]);

  const ordered = withEntriesLast(file, "pstree", (entry) => numberField(entry, 1) > 2);

  expect(readImageEntries(ordered, "pstree").map((entry) => numberField(entry, 1))).toEqual([
    1, 2, 3, 4,
  ]);
  expect(ordered).toHaveLength(file.length);
});
