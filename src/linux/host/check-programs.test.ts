import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { expect, test, vi } from "vitest";
import { checkCriu } from "./check-programs.ts";

const PACKAGE_ROOT = path.resolve(fileURLToPath(import.meta.url), "..", "..", "..", "..");

test("without root CRIU is not tried, and the kernel is not blamed", async () => {
  using _nobody = vi.spyOn(process, "getuid").mockReturnValue(65_534);

  expect(await checkCriu(PACKAGE_ROOT)).toMatchObject({
    ok: true,
    detail: expect.stringMatching(/; not tried: it needs root$/),
    fix: null,
  });
});
