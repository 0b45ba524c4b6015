import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterAll, afterEach, expect, test } from "vitest";
import { LinkMaker, type LinkStep } from "./link-maker.ts";

const directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-link-maker-"));
const heardPath = path.join(directory, "heard");
let maker: LinkMaker | undefined;

afterEach(async () => {
  await maker?.close();
  rmSync(heardPath, { force: true });
});
afterAll(() => rmSync(directory, { recursive: true }));

/** A program that writes down what it is given, and runs `onEnd` instead of an answer. */
function makerThat(onEnd: string): LinkMaker {
  const programPath = path.join(directory, "program");
  const loop = `while IFS= read -r line; do
    echo "$line" >>${heardPath}
    [ "$line" = end ] && { ${onEnd}; }
  done`;
  writeFileSync(programPath, `#!/bin/sh\n${loop}\n`);
  chmodSync(programPath, 0o700);
  maker = new LinkMaker(programPath);
  return maker;
}

const ADD: LinkStep = { kind: "ip", place: null, text: "link delete wp1\n" };

test("steps are sent with their places and lengths, and an answer ends the request", async () => {
  const own = makerThat("echo ok");

  await own.run([
    { kind: "namespace", place: "/run/n", text: "" },
    { kind: "nft", place: "/run/n", text: "ä\n", mayFail: true },
    ADD,
  ]);

  expect(readFileSync(heardPath, "utf8")).toBe(
    "namespace must 0 /run/n\nnft may 3 /run/n\nä\nip must 16 -\nlink delete wp1\nend\n",
  );
});

test("a step that fails is told with its line, and the next request is served", async () => {
  const own = makerThat(
    `if [ -e ${directory}/failed ]; then echo ok; else touch ${directory}/failed; printf 'failed link x: File exists\\n'; fi`,
  );

  await expect(own.run([ADD])).rejects.toMatchObject({
    code: "TOOL_FAILED",
    detail: { stderr: "link x: File exists" },
  });
  await own.run([ADD]);
});

test("one that no process is left for is told as such", async () => {
  const own = makerThat("echo 'failed fork: Resource temporarily unavailable'");

  await expect(own.run([ADD])).rejects.toMatchObject({ code: "PROCESSES_FULL" });
});

test("where the program dies its request fails, and another program serves the next", async () => {
  const mark = path.join(directory, "died");
  const own = makerThat(`if [ -e ${mark} ]; then echo ok; else touch ${mark}; kill -9 $$; fi`);

  await expect(own.run([ADD])).rejects.toMatchObject({
    code: "TOOL_FAILED",
    message: expect.stringContaining("SIGKILL"),
  });
  await own.run([ADD]);
  expect(existsSync(mark)).toBe(true);
});

test("one that cannot be started is told, however many wait", async () => {
  maker = new LinkMaker(path.join(directory, "missing"));
  const outcomes = await Promise.allSettled(Array.from({ length: 6 }, () => maker?.run([ADD])));

  expect(outcomes.map(({ status }) => status)).toEqual(Array(6).fill("rejected"));
});

test("requests run side by side, so many at once, and all are answered", async () => {
  const own = makerThat("echo ok");

  await Promise.all(Array.from({ length: 40 }, () => own.run([ADD])));

  expect(readFileSync(heardPath, "utf8").match(/^end$/gm)).toHaveLength(40);
});
