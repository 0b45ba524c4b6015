import { expect, test } from "vitest";
import type { Catalog } from "../../src/portable/catalog/index.ts";
import { VERIFIED } from "./catalog-rows.ts";
import { checkpointRow, sessionRow } from "./fake-rows.ts";

/** Tells what a catalog marks checkpoints by: a part of its conformance suite. */
export function catalogVerdicts(opened: () => Catalog, reopen: () => void): void {
  test("marks a checkpoint by the newest verdict of its own command", () => {
    opened().insertCheckpoint(checkpointRow());
    opened().verifications.add(VERIFIED);
    opened().verifications.add({ ...VERIFIED, exitCode: 1 });
    opened().verifications.add({ ...VERIFIED, command: "true", by: "bisect" });
    opened().verifications.add({ ...VERIFIED, exitCode: 127 });
    reopen();

    expect(
      opened()
        .verifications.of("c1")
        .map(({ exitCode }) => exitCode),
    ).toEqual([127, 0, 1, 0]);
    expect(opened().verifications.all()).toHaveLength(4);
    expect(opened().verifications.verdicts().get("c1")?.exitCode).toBe(1);
    expect(opened().verifications.verdicts({ checkpoint: "c2" }).size).toBe(0);
  });

  test("marks a checkpoint by its session's own command alone, where that has one", () => {
    const exitCode = () => opened().verifications.verdicts().get("c1")?.exitCode;
    opened().insertSession(sessionRow({ verifyCommand: "npm test" }));
    opened().insertCheckpoint(checkpointRow());
    opened().verifications.add({ ...VERIFIED, command: "make", exitCode: 2, by: "checkpoint" });
    expect(exitCode()).toBe(undefined);
    opened().verifications.add({ ...VERIFIED, command: "npm test", exitCode: 1 });
    opened().verifications.add({ ...VERIFIED, command: "npm test", exitCode: 0 });
    opened().verifications.add({ ...VERIFIED, command: "npm test", exitCode: 127 });
    reopen();

    expect(exitCode()).toBe(0);
    const ofMake = opened().verifications.verdicts({ command: "make" });
    expect(ofMake.get("c1")?.exitCode).toBe(2);
    expect(opened().verifications.deleteOf("c1", "npm test")).toBe(3);
    expect(exitCode()).toBe(undefined);
    expect(opened().verifications.deleteOf("c1")).toBe(1);
    expect(exitCode()).toBe(undefined);
  });
}
