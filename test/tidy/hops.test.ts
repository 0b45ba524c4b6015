import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { StreamClient } from "../../src/engine/ports/index.ts";
import { HANDLERS } from "../../src/operations/index.ts";
import type { FakeEngine } from "../support/fake-engine.ts";
import { engineWithSession, SESSION } from "../support/fake-session.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const DOCUMENT = readFileSync(`${ROOT}docs/ARCHITECTURE.md`, "utf8");
/** Queues and timers between the hops belong to no operation. */
const BETWEEN = /^src\/base\//;
const FRAMES_MAX = 100;

let framesBefore: number;

beforeAll(() => {
  framesBefore = Error.stackTraceLimit;
  Error.stackTraceLimit = FRAMES_MAX;
});

afterAll(() => {
  Error.stackTraceLimit = framesBefore;
});

interface Hop {
  file: string;
  name: string;
}

/** Reads a list of the document: "1. `src/…` `name`: what it does". */
function hopsOf(operation: string): Hop[] {
  const [, section = ""] = DOCUMENT.split(`### ${operation}, from the command to CRIU\n`);
  const list = section.split(/^#/m)[0] ?? "";
  return [...list.matchAll(/^\d+\. `([^`]+)` `([^`]+)`/gm)].map(([, file = "", name = ""]) => {
    return { file, name };
  });
}

/** Runs an operation on an engine of fakes and returns the files on the stack when CRIU is called. */
async function stackAt(
  step: "criu.dump" | "criu.restore",
  run: (fake: FakeEngine) => Promise<unknown>,
) {
  const fake = engineWithSession(SESSION, { freezer: null });
  let stack = "";
  fake.steps.answer(step, async () => {
    stack = new Error().stack ?? "";
    throw new Error("seen");
  });
  await expect(run(fake)).rejects.toThrow();
  const files = [...stack.matchAll(/\/(src\/[\w./-]+\.ts):/g)].map(([, file = ""]) => file);
  return files.filter((file, at) => !BETWEEN.test(file) && file !== files[at - 1]).reverse();
}

/** They name a function and are on no stack. */
const TABLES = new Set(["HANDLERS", "CHECKPOINT_HANDLERS"]);
const CLIENT = { signal: new AbortController().signal } as unknown as StreamClient;
const RESTORE = { only: null, paths: [], except: [], loseProcesses: false, withoutUndo: false };

test.each([
  {
    operation: "A checkpoint",
    step: "criu.dump" as const,
    run: ({ engine }: FakeEngine) =>
      HANDLERS.checkpoint({ session: "web" } as never, engine, CLIENT),
  },
  {
    operation: "A restore",
    step: "criu.restore" as const,
    run: ({ engine }: FakeEngine) =>
      HANDLERS.restore({ session: "web", checkpoint: "c1", ...RESTORE } as never, engine, CLIENT),
  },
])("$operation takes the way that docs/ARCHITECTURE.md tells", async ({ operation, step, run }) => {
  const hops = hopsOf(operation);
  const engineFiles = hops
    .filter(({ file, name }) => /^src\/(operations|engine)\//.test(file) && !TABLES.has(name))
    .map(({ file }) => file);

  expect(await stackAt(step, run)).toEqual(engineFiles);
});

test.each(["A checkpoint", "A restore"])("each hop of %s names the next one", (operation) => {
  const hops = hopsOf(operation);
  const textOf = ({ file }: Hop) => readFileSync(`${ROOT}${file}`, "utf8");

  expect(hops.length).toBeGreaterThan(8);
  for (const hop of hops) expect(existsSync(`${ROOT}${hop.file}`), hop.file).toBe(true);
  for (const hop of hops) expect(textOf(hop), hop.file).toMatch(new RegExp(`\\b${hop.name}\\b`));
  const missing = hops.flatMap((hop, at) => {
    const next = hops[at + 1];
    const isNamed = next === undefined || new RegExp(`\\b${next.name}\\b`).test(textOf(hop));
    return isNamed ? [] : [`${hop.file} says nothing of ${next.name}`];
  });
  expect(missing).toEqual([]);
});
