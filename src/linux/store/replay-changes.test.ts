import { describe, expect, test } from "vitest";
import { COMMAND, type SendCommand } from "../../formats/btrfs-stream/index.ts";
import { ChangesReplay } from "./replay-changes.ts";

type Step = [keyof typeof COMMAND, Partial<SendCommand>];

function replay(steps: readonly Step[]) {
  const changes = new ChangesReplay();
  for (const [kind, fields] of steps) {
    changes.apply({
      ...{ kind: COMMAND[kind], path: "", pathTo: "", pathLink: "", inode: 0, xattrName: "" },
      ...{ offset: 0, size: 0, ...fields },
    });
  }
  return changes.finish();
}

function moves(steps: readonly Step[]): string[] {
  return replay(steps).map(({ origin, paths }) => `${origin ?? "new"} > ${paths.join(",") || "-"}`);
}

describe("replaying a send stream", () => {
  test("follows a new file from its orphan name to its own", () => {
    const steps: Step[] = [
      ["mkfile", { path: "o257-7-0", inode: 257 }],
      ["rename", { path: "o257-7-0", pathTo: "d/file" }],
    ];

    expect(moves(steps)).toEqual(["new > d/file"]);
    expect(replay(steps)[0]?.inode).toBe(257);
  });

  test("ends chains of renames where they end, also a swap", () => {
    expect(
      moves([
        ["rename", { path: "a", pathTo: "o300-5-0" }],
        ["rename", { path: "b", pathTo: "a" }],
        ["rename", { path: "o300-5-0", pathTo: "b" }],
      ]),
    ).toEqual(["a > b", "b > a"]);
  });

  test("tells a directory that was renamed once, and what changed in it at its new place", () => {
    expect(
      moves([
        ["rename", { path: "old", pathTo: "new" }],
        ["updateExtent", { path: "new/file", size: 10 }],
        ["unlink", { path: "new/gone" }],
        ["rename", { path: "new/out", pathTo: "out" }],
      ]),
    ).toEqual(["old > new", "old/file > new/file", "old/gone > -", "old/out > out"]);
  });

  test("takes a link and the removal of the first name for a move", () => {
    expect(
      moves([
        ["link", { path: "new", pathLink: "old" }],
        ["unlink", { path: "old" }],
      ]),
    ).toEqual(["old > new"]);
  });

  test("does not tell of times, nor of what came back to where it was", () => {
    expect(
      moves([
        ["utimes", { path: "a" }],
        ["rename", { path: "b", pathTo: "c" }],
        ["rename", { path: "c", pathTo: "b" }],
      ]),
    ).toEqual([]);
  });

  test("joins what was written in a row, and tells the overlay's own attributes from others", () => {
    const [file] = replay([
      ["updateExtent", { path: "a", offset: 0, size: 10 }],
      ["updateExtent", { path: "a", offset: 10, size: 5 }],
      ["updateExtent", { path: "a", offset: 100, size: 1 }],
      ["setXattr", { path: "a", xattrName: "trusted.overlay.origin" }],
    ]);
    const [other] = replay([["setXattr", { path: "a", xattrName: "user.mine" }]]);

    expect(file).toMatchObject({
      written: [
        { offset: 0, size: 15 },
        { offset: 100, size: 1 },
      ],
      hasNewAttributes: false,
    });
    expect(other).toMatchObject({ hasNewAttributes: true });
  });

  test("forgets no stretch of a file with very many", () => {
    const steps = Array.from({ length: 3000 }, (_, index): Step => {
      const offset = index % 2 === 0 ? index * 10 : 60_000 - index * 10;
      return ["updateExtent", { path: "a", offset, size: 3 }];
    });

    const [file] = replay(steps);

    const isCovered = ([, { offset = 0 }]: Step) =>
      file?.written.some(
        (range) => range.offset <= offset && offset + 3 <= range.offset + range.size,
      );
    expect(steps.filter((step) => !isCovered(step))).toEqual([]);
    expect(file?.written.length).toBeLessThanOrEqual(1025);
  });

  test("refuses a stream that names what cannot be there", () => {
    expect(() =>
      replay([
        ["unlink", { path: "a" }],
        ["chmod", { path: "a" }],
      ]),
    ).toThrow("not there");
  });
});
