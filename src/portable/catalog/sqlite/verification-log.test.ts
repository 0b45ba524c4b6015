import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { VerificationRow } from "../verification-log.ts";
import { SqliteCatalog } from "./catalog.ts";

let directory: string;
let catalog: SqliteCatalog;

beforeEach(() => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-verdicts-"));
  catalog = SqliteCatalog.open(path.join(directory, "catalog.sqlite"), () => {});
});

afterEach(() => {
  catalog[Symbol.dispose]();
  rmSync(directory, { recursive: true });
});

function add(command: string, by: VerificationRow["by"], facts: Partial<VerificationRow> = {}) {
  catalog.verifications.add({
    ...{
      checkpoint: "c1",
      command,
      by,
      exitCode: 0,
      durationMs: 1,
      at: "2026-01-01T00:00:00.000Z",
    },
    ...{ timedOut: false, output: "", outputBytes: 0, ...facts },
  });
}

function mark(): string | undefined {
  const row = catalog.verifications.verdicts().get("c1");
  expect(catalog.verifications.verdicts({ checkpoint: "c1" }).get("c1")).toEqual(row);
  return row === undefined ? undefined : `${row.command} ${row.exitCode}`;
}

test("the command that a checkpoint was taken with marks it, whatever others say", () => {
  add("npm test", "checkpoint", { exitCode: 1 });
  add("true", "bisect");
  add("true", "verify");
  expect(mark()).toBe("npm test 1");

  add("npm test", "verify");
  expect(mark()).toBe("npm test 0");
  expect(catalog.verifications.of("c1")).toHaveLength(4);
});

test("without one, the first command of `verify` that comes to a verdict is its own", () => {
  add("npmm test", "verify", { exitCode: 127 });
  expect(mark()).toBe("npmm test 127");
  add("npm test", "verify");
  add("false", "verify", { exitCode: 1 });

  expect(mark()).toBe("npm test 0");
});

test("what is no verdict neither marks a checkpoint nor takes its mark away", () => {
  add("npm test", "checkpoint");
  add("npm test", "verify", { exitCode: 127 });
  add("npm test", "verify", { exitCode: 137 });
  add("npm test", "verify", { exitCode: 0, timedOut: true });

  expect(mark()).toBe("npm test 0");
});

test("a search marks nothing, also with the checkpoint's own command", () => {
  add("npm test", "bisect", { exitCode: 1 });
  expect(mark()).toBeUndefined();
});

test("of many verifications the one that says which command is its own is kept", () => {
  add("npm test", "checkpoint", { exitCode: 1 });
  for (let count = 0; count < 150; count += 1) add("true", "verify");

  expect(mark()).toBe("npm test 1");
  expect(catalog.verifications.of("c1")).toHaveLength(101);
});
