import { expect, test } from "vitest";
import { numberField, readImageEntries } from "../../formats/criu-images/index.ts";
import { withoutLostForeground } from "./lost-foreground.ts";

const SHELL = { pid: 2, group: 2 };
const PROGRAM = { pid: 1_747, group: 1_747 };

/** A tty_info_entry, with its fields in CRIU's order: id, type, …, session, foreground, device, size. */
function terminals(foregrounds: readonly number[]): Buffer {
  const entries = foregrounds.map((foreground) => {
    const number = [(foreground & 0x7f) | 0x80, foreground >> 7];
    const message = Buffer.from([8, 1, 16, 1, 48, 2, 56, ...number, 64, 7, 90, 2, 8, 40]);
    return Buffer.concat([Buffer.from([message.length, 0, 0, 0]), message]);
  });
  return Buffer.concat([Buffer.from("1943565436304559", "hex"), ...entries]);
}

function tree(processes: readonly { pid: number; group: number }[]) {
  return processes.map(
    ({ pid, group }) =>
      new Map([
        [1, [BigInt(pid)]],
        [3, [BigInt(group)]],
      ]),
  );
}

test("a foreground without a process goes back to the shell, and nothing else changes", () => {
  const before = terminals([1_720, 1_747]);
  const after = withoutLostForeground(before, tree([SHELL, PROGRAM]));

  const [lost, kept] = readImageEntries(after, "ttyInfo");
  const [was, wasKept] = readImageEntries(before, "ttyInfo");
  expect(lost && numberField(lost, 7)).toBe(2);
  expect(kept).toEqual(wasKept);
  expect(new Map([...(lost ?? [])].filter(([field]) => field !== 7))).toEqual(
    new Map([...(was ?? [])].filter(([field]) => field !== 7)),
  );
});

test("what is in order, or whose shell has ended, stays byte for byte", () => {
  const file = terminals([1_747]);

  expect(withoutLostForeground(file, tree([SHELL, PROGRAM]))).toEqual(file);
  expect(withoutLostForeground(file, [])).toEqual(file);
});
