import { expect, test } from "vitest";
import { isUntimedWait } from "./untimed-wait.ts";

const NO_TIMEOUT = "0xffffffffffffffff";
/** /proc writes an int as the register that held it, whatever its upper half. */
const NO_TIMEOUT_INT = "0xffffffff";

const line = (number: number, ...args: string[]) =>
  [number, ...args, ...Array(6 - args.length).fill("0x0"), "0x7ffe0000", "0x7f0000"].join(" ");
const readsPipe = (fd: number) => fd === 3;

test.runIf(process.arch === "x64").each([
  ["a shell at its prompt", line(270, "0x1", "0x7ffd", "0x0", "0x0", "0x0", "0x7ffc")],
  ["poll without a timeout", line(7, "0x7ffd", "0x1", NO_TIMEOUT)],
  ["poll without a timeout, as an int", line(7, "0x7ffd", "0x1", NO_TIMEOUT_INT)],
  ["epoll without a timeout", line(232, "0x4", "0x7ffd", "0x40", NO_TIMEOUT_INT)],
  ["a read of a pipe", line(0, "0x3", "0x7ffd", "0x1")],
  ["a wait for a child", line(61, NO_TIMEOUT, "0x7ffd")],
  ["a futex without a timeout", line(202, "0x7ffd", "0x80", "0x2", "0x0")],
])("%s waits until somebody else acts", (_what, syscall) => {
  expect(isUntimedWait(`${syscall}\n`, readsPipe)).toBe(true);
});

test.each([
  ["a thread that runs", "running"],
  ["a thread outside of any call", "-1 0x7ffe0000 0x7f0000"],
  ["nothing", ""],
  ["a sleep", line(230, "0x0", "0x0", "0x7ffd", "0x7ffe")],
  ["a shell that waits for a while", line(270, "0x1", "0x7ffd", "0x0", "0x0", "0x7ffe", "0x7ffc")],
  ["poll with a timeout", line(7, "0x7ffd", "0x1", "0x3e8")],
  ["epoll with a timeout", line(232, "0x4", "0x7ffd", "0x40", "0x0")],
  [
    "a read of something else, which may have a timeout of its own",
    line(0, "0x4", "0x7ffd", "0x1"),
  ],
  ["a futex with a timeout", line(202, "0x7ffd", "0x80", "0x2", "0x7ffe")],
  ["a futex that inherits priority", line(202, "0x7ffd", "0x86", "0x2", "0x0")],
  ["a call that is not known", line(999)],
])("%s may run on by itself", (_what, syscall) => {
  expect(isUntimedWait(`${syscall}\n`, readsPipe)).toBe(false);
});
