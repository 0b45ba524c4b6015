import { expect, test } from "vitest";
import { OutputPipe, PIPE_BYTES_MAX } from "./output-pipe.ts";

const FULL = new Uint8Array(PIPE_BYTES_MAX);
const nothing = () => {};
const isPending = async (work: Promise<unknown>) =>
  (await Promise.race([work.then(() => "settled"), Promise.resolve("pending")])) === "pending";

test("a slow reader holds up whoever writes, until it has room again", async () => {
  const pipe = new OutputPipe(nothing);
  const reader = pipe[Symbol.asyncIterator]() as AsyncGenerator<Uint8Array>;
  const first = reader.next();
  const held = pipe.put(FULL);
  expect((await first).value).toHaveLength(PIPE_BYTES_MAX);
  await held;
  const full = pipe.put(FULL);
  expect(await isPending(full)).toBe(true);
  await reader.next();
  await full;
  pipe.end();
  expect((await reader.next()).done).toBe(true);
});

test("what nobody reads is not waited for, and a reader that comes too late is told", async () => {
  const pipe = new OutputPipe(nothing);
  await pipe.put(FULL);
  await pipe.put(new Uint8Array(1));
  pipe.end();
  const read = async () => {
    for await (const _ of pipe);
  };
  await expect(read()).rejects.toMatchObject({ code: "USAGE_INVALID" });
  await expect(read()).rejects.toMatchObject({ code: "USAGE_INVALID" });
});

test("a reader that leaves lets the writer go on, and one that stays learns of an error", async () => {
  const left = new OutputPipe(nothing);
  void left.put(new Uint8Array(1));
  for await (const _ of left) break;
  await left.put(FULL);
  await left.put(FULL);

  const failed = new OutputPipe(nothing);
  await failed.put(Buffer.from("a"));
  failed.end({ error: new Error("lost") });
  const seen: string[] = [];
  const read = async () => {
    for await (const bytes of failed) seen.push(Buffer.from(bytes).toString());
  };
  await expect(read()).rejects.toThrow("lost");
  expect(seen).toEqual(["a"]);
});
