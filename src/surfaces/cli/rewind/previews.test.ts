import { setTimeout as delay } from "node:timers/promises";
import { expect, test, vi } from "vitest";
import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { Previews } from "./previews.ts";

const NOTHING = { summary: "nothing" } as OperationOutput<"diff">;

test("a preview is asked for once, when the selection rests, and kept", async () => {
  const asked: string[] = [];
  using previews = new Previews(
    async (checkpoint) => {
      asked.push(checkpoint);
      return NOTHING;
    },
    () => {},
  );

  previews.look("a");
  previews.look("b");
  previews.look("c");
  await vi.waitFor(() => expect(previews.of("c").kind).toBe("ready"));
  previews.look("c");
  await delay(200);

  expect(asked).toEqual(["c"]);
});

test("moving on gives up what is under way; a late answer is not kept", async () => {
  const answer = Promise.withResolvers<OperationOutput<"diff">>();
  const signals: AbortSignal[] = [];
  using previews = new Previews(
    (_, signal) => {
      signals.push(signal);
      return answer.promise;
    },
    () => {},
  );
  previews.look("a", { fresh: true });
  await vi.waitFor(() => expect(signals).toHaveLength(1));

  previews.look(null);
  answer.resolve(NOTHING);
  await answer.promise;

  expect(signals[0]?.aborted).toBe(true);
  expect(previews.of("a").kind).toBe("loading");
});

test("a fresh look asks again; why it failed is kept to be shown", async () => {
  let calls = 0;
  using previews = new Previews(
    async () => {
      calls += 1;
      throw new Error("no");
    },
    () => {},
  );
  previews.look("a", { fresh: true });
  await vi.waitFor(() => expect(previews.of("a").kind).toBe("failed"));
  previews.look("a", { fresh: true });
  await vi.waitFor(() => expect(previews.of("a").kind).toBe("failed"));
  expect(calls).toBe(2);
});
