import { expect, test } from "vitest";
import { redactorOf } from "./redact.ts";

const KEY = `sk-${"a1B2".repeat(8)}`;

test("a key is taken out wherever it stands, and all else stays as it was", () => {
  const redact = redactorOf();
  const value = {
    messages: [{ role: "user", content: `use ${KEY}, please` }, { [KEY]: [null, 3, true, KEY] }],
    pem: "-----BEGIN RSA PRIVATE KEY-----\nabc\n-----END RSA PRIVATE KEY-----",
    plain: "ask-no-questions, sk-short, monkey=banana",
  };
  const kept = JSON.stringify(redact(value));

  expect(kept).not.toContain("a1B2");
  expect(kept).not.toContain("abc");
  expect(kept).toContain("use [redacted], please");
  expect(kept).toContain("ask-no-questions, sk-short, monkey=banana");
  expect(kept).toContain('[null,3,true,"[redacted]"]');
});

test("patterns may be others, or none", () => {
  expect(redactorOf([/corp-\d+/])("corp-1 and corp-22")).toBe("[redacted] and [redacted]");
  expect(redactorOf([])(KEY)).toBe(KEY);
});

test("a key called __proto__ stays a key", () => {
  const given = JSON.parse('{"__proto__": {"x": 1}, "a": 2}');
  expect(JSON.stringify(redactorOf()(given))).toBe('{"__proto__":{"x":1},"a":2}');
});
