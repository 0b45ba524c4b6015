import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { SessionNetwork } from "./session-network.ts";
import { SpareNetworks } from "./spare-networks.ts";

const COUNT_MAX = 2;
const NETWORK = { address: "10.0.0.2", linkIndex: 7 };

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

test("what is kept counts while others are being made: twice as many, and one, are there at most", async () => {
  const [made, renamed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const make = vi.fn(async () => {
    await made.promise;
    return NETWORK as SessionNetwork;
  });
  const spares = new SpareNetworks({
    countMax: COUNT_MAX,
    make,
    remove: async () => {},
    rename: () => renamed.promise,
  });
  // Whoever takes one has more made, of which the first takes a while.
  expect(await spares.give("one")).toBeNull();
  await vi.advanceTimersByTimeAsync(1_000);
  const kept = Array.from({ length: 8 }, (_, at) => spares.keep(`ended-${at}`, NETWORK));

  made.resolve();
  await vi.advanceTimersByTimeAsync(0);
  renamed.resolve();

  expect((await Promise.all(kept)).filter(Boolean)).toHaveLength(2 * COUNT_MAX);
  await vi.advanceTimersByTimeAsync(1_000);
  expect(make).toHaveBeenCalledOnce();
  expect(spares.readyCount).toBe(2 * COUNT_MAX + 1);
});
