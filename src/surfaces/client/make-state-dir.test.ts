import { tmpdir } from "node:os";
import { expect, test } from "vitest";
import { notStateDir } from "./make-state-dir.ts";

const readOnly = Object.assign(new Error("EROFS: read-only file system"), { code: "EROFS" });

test("a state directory that became read-only is not told to be the wrong one", () => {
  expect(notStateDir(tmpdir(), readOnly)).toMatchObject({
    code: "STORE_FAILED",
    message: `${tmpdir()} is on a filesystem that is read-only.`,
  });
  expect(notStateDir("/nonexistent/dir", readOnly)).toMatchObject({ code: "USAGE_INVALID" });
  expect(notStateDir(tmpdir(), new Error("EACCES"))).toMatchObject({ code: "USAGE_INVALID" });
});
