import { expect, test } from "vitest";
import { parseCommit } from "./git-commit.ts";

test("a commit is read by what stands at its beginning, however much follows", () => {
  const id = "0".repeat(40);
  const parents = Array.from({ length: 80_000 }, () => `parent ${"1".repeat(40)}\n`).join("");
  const commit = (headers: string) =>
    parseCommit(id, {
      type: "commit",
      content: Buffer.from(`tree ${"2".repeat(40)}\n${headers}\nSubject\n\n${"x".repeat(1e6)}`),
    });

  const usual = commit(`parent ${id}\ncommitter A <a@b> 7 +0000\n`);

  expect(usual).toMatchObject({ parents: [id], seconds: 7, subject: "Subject" });
  expect(commit(parents).parents.length).toBeLessThan(400);
});
