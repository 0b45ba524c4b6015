import {
  appendFileSync,
  closeSync,
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { Target, versionAt } from "../../src/engine/changes/index.ts";
import { CopyJob } from "../../src/engine/files/index.ts";
import { carryOut, Journal, makePlan } from "../../src/engine/merge/index.ts";
import * as kernel from "../../src/linux/kernel/index.ts";
import * as textTools from "../../src/linux/text-tools/index.ts";

// Somebody works in the target at the very moment at which a plan is carried out.

const NAMES = ["gone", "logged", "made", "changed"];

let root: string;
const at = (name: string) => path.join(root, name);
const inTarget = (name: string) => path.join(root, "target", name);
const read = (name: string) => readFileSync(inTarget(name), "utf8");

beforeEach(() => {
  root = mkdtempSync(path.join(os.tmpdir(), "waypoint-meanwhile-"));
  for (const name of ["target", "new/made", "store"]) mkdirSync(at(name), { recursive: true });
  for (const name of ["gone", "logged", "changed"]) writeFileSync(inTarget(name), `old ${name}\n`);
  for (const name of ["logged", "changed"]) writeFileSync(at(`new/${name}`), `new ${name}\n`);
});

afterEach(() => rmSync(root, { recursive: true }));

/** Carries out the plan, and calls `meanwhile` before each step that takes its place, from 1. */
async function carryOutWhile(meanwhile: (step: number, cancel: () => void) => void) {
  const gone = new AbortController();
  let step: number | null = null;
  const signal = {
    get aborted() {
      if (step !== null) {
        step += 1;
        meanwhile(step, () => gone.abort());
      }
      return gone.signal.aborted;
    },
  } as AbortSignal;
  const fd = openSync(at("target"), constants.O_RDONLY | constants.O_DIRECTORY);
  const journal = new Journal(at("store"));
  const target = new Target(fd, kernel);
  const id = "one";
  const theirs = (name: string) => (name === "gone" ? null : versionAt(at(`new/${name}`)));
  await journal.make(id);
  try {
    const plan = await makePlan(
      NAMES.map((name) => {
        const known = { base: "unknown" as const, linkKey: null, ctimeNs: null };
        return { ...known, path: name, theirs: theirs(name) };
      }),
      target,
      {
        ...({ onConflict: "theirs", directoryAt: () => null } as const),
        labels: { ours: "ours", base: "base", theirs: "theirs" },
        ...{ scratchDir: journal.dirOf(id), textTools, signal: gone.signal },
      },
    );
    const at = new Date().toISOString();
    const destination = { kind: "machine", directory: inTarget("") } as const;
    const record = {
      ...({ id, kind: "apply", at, session: "s", checkpoint: "c", destination } as const),
      ...{ before: null, operation: null, undoes: null },
    };
    const job = new CopyJob(
      fd,
      { owner: null, dropsPrivileges: false },
      { id, signal, calls: kernel },
    );
    const sync = async () => {
      step = 0;
    };
    return await carryOut({ record, plan, target, journal, job, sync });
  } finally {
    expect(readdirSync(at("store/applies"))).toEqual([]);
    expect(readdirSync(at("target")).filter((name) => name.startsWith("."))).toEqual([]);
    closeSync(fd);
  }
}

test("a file that somebody else removes is no reason to leave the rest half-way", async () => {
  const request = carryOutWhile((step) => {
    if (step === 1) rmSync(inTarget("gone"));
    if (step === 1) writeFileSync(inTarget("changed"), "the person's own\n");
  });

  await expect(request).rejects.toMatchObject({ code: "APPLY_CONFLICT" });
  expect([read("logged"), read("changed")]).toEqual(["old logged\n", "the person's own\n"]);
  expect([existsSync(inTarget("gone")), existsSync(inTarget("made"))]).toEqual([false, false]);
});

test("a directory that somebody else makes stays when all is put back", async () => {
  const request = carryOutWhile((step) => {
    if (step === 2) mkdirSync(inTarget("made"));
  });

  await expect(request).rejects.toMatchObject({ code: "APPLY_CONFLICT" });
  expect(readdirSync(at("target")).sort()).toEqual(["changed", "gone", "logged", "made"]);
});

test.each([
  ["the client leaves", "CANCELLED", "The operation was cancelled; all was put back."],
  [
    "nothing else is in the way",
    "APPLY_CONFLICT",
    "/changed was changed meanwhile; all was put back.",
  ],
])(
  "what is written to an open file that was just replaced is kept: %s",
  async (_, code, message) => {
    const fd = openSync(inTarget("changed"), "a");
    const request = carryOutWhile((step, cancel) => {
      // `changed` is replaced by the third step.
      if (step !== 4) return;
      expect(read("changed")).toBe("new changed\n");
      appendFileSync(fd, "a line of the log\n");
      if (code === "CANCELLED") cancel();
    });

    await expect(request).rejects.toMatchObject({ code, message });
    closeSync(fd);
    expect(read("changed")).toBe("old changed\na line of the log\n");
    expect([read("logged"), read("gone")]).toEqual(["old logged\n", "old gone\n"]);
  },
);
