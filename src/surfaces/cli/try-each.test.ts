import { expect, test } from "vitest";
import { WaypointError } from "../../shared/errors/index.ts";
import { tryEach } from "./try-each.ts";

test("each name is tried; the error names all failures and has the code of the first", async () => {
  const tried: string[] = [];
  const all = tryEach(["a", "b", "c", "d"], async (name) => {
    tried.push(name);
    if (name === "b") throw new WaypointError("SESSION_WRONG_STATE", "It is stopped.");
    if (name === "c") throw new WaypointError("SESSION_NOT_FOUND", "It is not there.");
  });
  await expect(all).rejects.toMatchObject({
    code: "SESSION_WRONG_STATE",
    message: "b: It is stopped. c: It is not there.",
  });
  expect(tried).toEqual(["a", "b", "c", "d"]);
});

test("a name that is given twice is tried once", async () => {
  const tried: string[] = [];
  await tryEach(["a", "b", "a"], async (name) => void tried.push(name));
  expect(tried).toEqual(["a", "b"]);
});

test("an answer of no ends it", async () => {
  const tried: string[] = [];
  const all = tryEach(["a", "b"], async (name) => {
    tried.push(name);
    throw new WaypointError("CANCELLED", "Nothing was changed.");
  });
  await expect(all).rejects.toMatchObject({ code: "CANCELLED" });
  expect(tried).toEqual(["a"]);
});
