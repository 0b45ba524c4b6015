import path from "node:path";
import { expect, test } from "vitest";
import { filesBelow, readText, roomsOfSource } from "./repository.ts";

const IMPORTED = /^(?:import|export)\b[^;]*?from "(\.[^"]+)"/gm;

/** Returns what each room imports of other rooms, types included, with a file that does so. */
function importsOfRooms(): Map<string, Map<string, string>> {
  const rooms = roomsOfSource();
  const roomOf = (file: string) => rooms.find((room) => file.startsWith(`src/${room}/`));
  const found = new Map(rooms.map((room) => [room, new Map<string, string>()]));
  for (const file of filesBelow(["src"], [".ts"])) {
    const from = roomOf(file);
    if (from === undefined || file.endsWith(".test.ts")) continue;
    for (const [, specifier = ""] of (readText(file) ?? "").matchAll(IMPORTED)) {
      const to = roomOf(path.posix.join(path.posix.dirname(file), specifier));
      if (to !== undefined && to !== from) found.get(from)?.set(to, file);
    }
  }
  return found;
}

/** Returns the files through which a room needs itself, `null` where it does not. */
function cycleOf(start: string, imports: ReadonlyMap<string, ReadonlyMap<string, string>>) {
  const seen = new Set<string>();
  const walk = (room: string, way: readonly string[]): readonly string[] | null => {
    for (const [next, file] of imports.get(room) ?? []) {
      if (next === start) return [...way, file];
      if (seen.has(next)) continue;
      seen.add(next);
      const found = walk(next, [...way, file]);
      if (found !== null) return found;
    }
    return null;
  };
  return walk(start, []);
}

test("no two rooms need each other, types included", () => {
  const imports = importsOfRooms();
  const cycles = [...imports.keys()].flatMap((room) => {
    const way = cycleOf(room, imports);
    return way === null ? [] : [`${room}: ${way.join(", ")}`];
  });

  expect(imports.get("engine/checkpoint")?.has("engine/ports")).toBe(true);
  expect(cycles).toEqual([]);
});

test("a cycle is found through any number of rooms", () => {
  const imports = new Map([
    ["a", new Map([["b", "a/x.ts"]])],
    ["b", new Map([["c", "b/y.ts"]])],
    ["c", new Map([["b", "c/z.ts"]])],
  ]);

  expect(cycleOf("b", imports)).toEqual(["b/y.ts", "c/z.ts"]);
  expect(cycleOf("a", imports)).toBeNull();
});
