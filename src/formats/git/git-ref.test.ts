import { expect, test } from "vitest";
import { parsePackedRefs, parseRef } from "./git-ref.ts";

const ID = "0123456789abcdef0123456789abcdef01234567";

test("a reference is a commit, of either kind of id, or another reference", () => {
  expect(parseRef(ID)).toEqual({ commit: ID });
  expect(parseRef(ID + ID.slice(0, 24))).toEqual({ commit: ID + ID.slice(0, 24) });
  expect(parseRef("ref: refs/heads/main")).toEqual({ ref: "refs/heads/main" });
});

test.each([
  "",
  "0123",
  ID.toUpperCase(),
  "ref: HEAD",
  "ref: refs/../../etc/passwd",
  "ref: refs/..",
])("%s is no reference", (line) => {
  expect(parseRef(line)).toBeNull();
});

test("packed references are read with their comments and peeled tags left out", () => {
  const text = [
    "# pack-refs with: peeled fully-peeled sorted",
    `${ID} refs/heads/main`,
    `${ID} refs/tags/v1\r`,
    `^${ID}`,
    `${ID} refs/heads/a\xe4`,
    "refs/heads/lost",
    "",
  ].join("\n");

  expect([...parsePackedRefs(Buffer.from(text, "latin1"))]).toEqual([
    ["refs/heads/main", ID],
    ["refs/tags/v1", ID],
    ["refs/heads/a\xe4", ID],
  ]);
});
