/**
 * Set up for every file of integration tests: after a test or a hook that took all its time, the
 * others of the file fail at once. They share what hangs, and each would wait as long again.
 */
import { afterEach, beforeEach } from "vitest";

const TIME_OVER = /^(Test|Hook) timed out in/;

let hung: string | undefined;

beforeEach(() => {
  if (hung !== undefined) throw new Error(`not tried, since this hung: ${hung}`);
});

afterEach(({ task }) => {
  const isHung = task.result?.errors?.some(({ message }) => TIME_OVER.test(message)) ?? false;
  if (isHung) hung ??= task.name;
});
