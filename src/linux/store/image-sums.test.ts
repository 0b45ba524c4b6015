import { randomBytes, randomInt } from "node:crypto";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { findDamage, makeSums, type SumsBefore } from "./image-sums.ts";

const programPath = path.resolve(import.meta.dirname, "../../../.tools/native/image-sums");
const PAGE_BYTES = 4096;
const ROUNDS = 40;

let directory: string;
let before: SumsBefore;

const place = (name: string) => ({
  programPath,
  imagesDir: path.join(directory, name),
  sumsPath: path.join(directory, `${name}.sums`),
});
const imageOf = (name: string, image = "pages-1.img") => path.join(directory, name, image);

beforeEach(async () => {
  directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-sums-"));
  mkdirSync(path.join(directory, "before"));
  writeFileSync(imageOf("before"), randomBytes(100 * PAGE_BYTES));
  writeFileSync(imageOf("before", "core-1.img"), "registers");
  await makeSums(place("before"));
  before = { changedPath: path.join(directory, "changed"), sumsPath: place("before").sumsPath };
});

afterEach(() => rmSync(directory, { recursive: true }));

/** Writes pages at random, also behind the end, or cuts the image off; returns the list of it. */
function changeAtRandom(): string {
  cpSync(path.join(directory, "before"), path.join(directory, "after"), { recursive: true });
  let image = readFileSync(imageOf("after"));
  let list = "";
  if (randomInt(3) === 0) image = image.subarray(0, randomInt(1, 100) * PAGE_BYTES);
  for (let count = randomInt(8); count > 0; count -= 1) {
    const start = randomInt(image.length / PAGE_BYTES + 1) * PAGE_BYTES;
    const bytes = randomBytes(randomInt(1, 20) * PAGE_BYTES);
    const end = start + bytes.length;
    image = Buffer.concat([image.subarray(0, start), bytes, image.subarray(end)]);
    list += `pages-1.img ${start.toString(16)} ${end.toString(16)}\n`;
  }
  writeFileSync(imageOf("after"), image);
  writeFileSync(imageOf("after", "core-1.img"), randomBytes(randomInt(100)));
  return `${list}end\n`;
}

test("sums are the same, whether all is read or what was changed", async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const list = changeAtRandom();
    writeFileSync(before.changedPath, list);
    const digest = await makeSums(place("after"), before);

    expect(await findDamage(place("after"), { digest, part: "all" }), list).toBeNull();
    expect(await makeSums(place("after")), list).toBe(digest);
    rmSync(path.join(directory, "after"), { recursive: true });
  }
});

test("what is not on the list has the sums of before", async () => {
  cpSync(path.join(directory, "before"), path.join(directory, "after"), { recursive: true });
  writeFileSync(imageOf("after"), randomBytes(100 * PAGE_BYTES));
  writeFileSync(before.changedPath, "pages-1.img 0 1000\nend\n");

  const digest = await makeSums(place("after"), before);

  expect(await findDamage(place("after"), { digest, part: "all" })).toBe(
    "pages-1.img has another content",
  );
});

test.each([
  ["a list that is not whole", "pages-1.img 0 1000\n"],
  ["a list that is none", "pages-1.img zero 1000\nend\n"],
  ["no list", null],
  ["a list that names another image", "pages-2.img 0 1000\nend\n"],
])("all is read where there is %s", async (_name, list) => {
  cpSync(path.join(directory, "before"), path.join(directory, "after"), { recursive: true });
  writeFileSync(imageOf("after"), randomBytes(100 * PAGE_BYTES));
  if (list !== null) writeFileSync(before.changedPath, list);

  const digest = await makeSums(place("after"), before);

  expect(await findDamage(place("after"), { digest, part: "all" })).toBeNull();
});
