import { expect, test } from "vitest";
import { findInTree } from "./git-tree.ts";

const SHA1_BYTES = 20;

function line(mode: string, name: string, byte: number): Buffer {
  return Buffer.concat([
    Buffer.from(`${mode} ${name}\0`, "latin1"),
    Buffer.alloc(SHA1_BYTES, byte),
  ]);
}

test("a name is found in a tree, also behind an id that has a zero and a blank in it", () => {
  const content = Buffer.concat([
    line("100644", "a", 0),
    line("40000", "b", 0x20),
    line("100755", "c", 3),
  ]);
  const find = (name: string) => findInTree({ type: "tree", content }, name, SHA1_BYTES);

  expect(find("b")).toEqual({ mode: 0o40000, id: "20".repeat(SHA1_BYTES) });
  expect(find("c")).toEqual({ mode: 0o100755, id: "03".repeat(SHA1_BYTES) });
  expect(find("d")).toBeNull();
});

test("what is no tree, or ends too early, is refused", () => {
  const content = line("100644", "a", 1);
  const cut = content.subarray(0, content.length - 1);

  expect(() => findInTree({ type: "blob", content }, "a", SHA1_BYTES)).toThrow("something else");
  expect(() => findInTree({ type: "tree", content: cut }, "a", SHA1_BYTES)).toThrow("damaged");
  const noName = Buffer.from("100644");
  expect(() => findInTree({ type: "tree", content: noName }, "a", SHA1_BYTES)).toThrow("damaged");
});
