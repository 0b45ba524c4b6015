import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { expect, test } from "vitest";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const read = (path: string) => readFileSync(`${ROOT}${path}`, "utf8");
const FORMAT = read("docs/FORMAT.md");

/** Returns the version that a file of the source writes. */
function constantOf(path: string): number {
  return Number(/\b(?:\w+_)?(?:FORMAT|VERSION) = (\d+);/.exec(read(path))?.[1]);
}

/** Returns the version that a section of the document tells. */
function toldOf(heading: string): number {
  const [, section = ""] = FORMAT.split(`\n## ${heading}\n`);
  return Number(/"format": (\d+)/.exec(section.split("\n## ")[0] ?? "")?.[1]);
}

test.each([
  ["manifest.json", "src/base/manifest-format.ts"],
  ["story.json", "src/engine/story/keep-story.ts"],
  ["base-versions.json", "src/engine/moment/base/base-versions.ts"],
  ["sessions/<session>.start", "src/engine/session/session-start.ts"],
])("docs/FORMAT.md tells the version that is written into %s", (heading, path) => {
  expect(constantOf(path)).toBeGreaterThan(0);
  expect(toldOf(heading)).toBe(constantOf(path));
});

test("the last change of the format is the version of manifests", () => {
  const versions = [...FORMAT.matchAll(/^\| (\d+) \| \d/gm)].map(([, version]) => Number(version));

  expect(versions).toEqual(versions.toSorted((a, b) => a - b));
  expect(versions.at(-1)).toBe(constantOf("src/base/manifest-format.ts"));
});

test("docs/init-protocol.md tells the version that both sides speak", () => {
  const told = Number(/^Version (\d+)\./m.exec(read("docs/init-protocol.md"))?.[1]);
  const native = Number(/PROTOCOL_VERSION\s+(\d+)/.exec(nativeText())?.[1]);

  expect(told).toBe(constantOf("src/linux/terminal/frames.ts"));
  expect(native).toBe(told);
});

function nativeText(): string {
  return read("native/init/protocol.h");
}
