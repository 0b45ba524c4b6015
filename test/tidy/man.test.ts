import { expect, test } from "vitest";
import { renderPages } from "../../scripts/docs/pages.ts";
import { roff } from "../../scripts/docs/render-man.ts";
import { filesBelow, readText } from "./repository.ts";

const REQUESTS = /^\.(?:\\"|TH|SH|TP|PP|B|BR)(?: |$)/;

test("every command has a manual page, and every page a command", async () => {
  const pages = (await renderPages()).map(({ path }) => path).filter((path) => /^man\//.test(path));

  expect(pages).toContain("man/waypoint.1");
  expect(pages).toContain("man/waypoint-daemon-stop.1");
  expect(filesBelow(["man"], [".1"]).toSorted()).toEqual(pages.toSorted());
});

test("no text of a page is taken for a request or an escape of roff", () => {
  const lines = filesBelow(["man"], [".1"]).flatMap((file) => (readText(file) ?? "").split("\n"));

  expect(lines.filter((line) => /^[.']/.test(line) && !REQUESTS.test(line))).toEqual([]);
  expect(lines.filter((line) => /[^\0-\x7f]/.test(line))).toEqual([]);
  expect(roff(".profile")).toBe("\\&.profile");
  expect(roff("'a' -n \\ …")).toBe("\\&'a' \\-n \\e \\[u2026]");
});
