import { expect, test } from "vitest";
import { hasQueue } from "./queued-data.ts";

const HEAD = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid\n";
const line = (state: string, queues: string) =>
  `   0: 0100007F:1F90 0100007F:C350 ${state} ${queues} 01:00000014 00000000     0\n`;

test("data that is not acknowledged counts, in any state but that of a listener", () => {
  expect(hasQueue(HEAD + line("01", "00000000:00000000") + line("01", "0039F200:00000000"))).toBe(
    true,
  );
  expect(hasQueue(HEAD + line("08", "00000001:00000000"))).toBe(true);
  expect(hasQueue(HEAD + line("0A", "00000001:00000000"))).toBe(false);
});

test("data that waits for its reader does not", () => {
  expect(hasQueue(HEAD + line("01", "00000000:0001BA00"))).toBe(false);
  expect(hasQueue("")).toBe(false);
});
