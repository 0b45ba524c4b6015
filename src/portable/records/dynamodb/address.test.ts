import { expect, test } from "vitest";
import { optionsOf } from "./address.ts";

test.each([
  ["dynamodb://graphs", { table: "graphs", createTable: false }],
  [
    "dynamodb://a.b_c-d?region=eu-west-1&createTable=true",
    { table: "a.b_c-d", region: "eu-west-1", createTable: true },
  ],
  [
    "dynamodb://abc?endpoint=http%3A%2F%2F127.0.0.1%3A8000",
    { table: "abc", endpoint: "http://127.0.0.1:8000", createTable: false },
  ],
])("%s names a table", (address, options) => {
  expect(optionsOf(address)).toEqual(options);
});

test.each(["dynamodb://", "dynamodb://a b c", "dynamodb://abc?secret=x", "redis://abc"])(
  "%s is none",
  (address) => {
    expect(() => optionsOf(address)).toThrow(expect.objectContaining({ code: "USAGE_INVALID" }));
  },
);
