import { expect, test } from "vitest";
import { importClient } from "./import-client.ts";
import { redact, ServerCalls, secretsOf } from "./server-calls.ts";

const SECRET = "p@ss/w:rd";

test.each([
  ["postgresql://user:p%40ss%2Fw%3Ard@host:5432/db", ["p%40ss%2Fw%3Ard", SECRET]],
  ["redis://:s3cret@host", ["s3cret", "s3cret"]],
  ["postgresql:///db?host=/run&password=p%40ss%2Fw%3Ard", ["p%40ss%2Fw%3Ard", SECRET]],
  ["postgresql://user:bad%zz@host/db", ["bad%zz", "bad%zz"]],
  ["postgresql://user@host/db", []],
  ["host=localhost", []],
])("%s has its secrets", (address, secrets) => {
  expect(secretsOf(address)).toEqual(secrets);
});

test("secrets and what stands before a host are hidden, wherever they are", () => {
  const text = `bad postgresql://u:x@host/db, ${SECRET} and ${SECRET}`;

  expect(redact(text, [SECRET, ""])).toBe("bad postgresql://***@host/db, *** and ***");
});

test("what may go away by itself is tried again, what will not is told at once", async () => {
  const names = { name: "The server", secrets: [SECRET] };
  let tries = 0;
  const lose = (error: Error) => async () => {
    tries += 1;
    if (tries < 3) throw error;
    return tries;
  };
  const lost = new ServerCalls({ ...names, failureOf: () => "lost" });
  expect(await lost.call(lose(new Error("gone")))).toBe(3);

  tries = 0;
  const failed = new ServerCalls({ ...names, failureOf: () => "failed" });
  await expect(failed.call(lose(new Error(`no ${SECRET}`)))).rejects.toMatchObject({
    code: "STORE_FAILED",
    message: "The server refused: no ***",
    detail: { reason: "no ***", tries: 1 },
  });

  tries = 0;
  const refused = Object.assign(new Error("connect"), { code: "ECONNREFUSED" });
  // What the network says is known without asking the driver.
  expect(await failed.call(lose(refused))).toBe(3);
});

test("several errors of one connection are told by what each says", async () => {
  const each = ["::1", "127.0.0.1"].map((host) => {
    return Object.assign(new Error(`getaddrinfo ENOTFOUND ${host}`), { code: "ENOTFOUND" });
  });
  const calls = new ServerCalls({ name: "It", secrets: [], failureOf: () => "failed" });

  await expect(calls.call(() => Promise.reject(new AggregateError(each)))).rejects.toMatchObject({
    code: "STORE_UNREACHABLE",
    message: "It does not answer: getaddrinfo ENOTFOUND ::1, getaddrinfo ENOTFOUND 127.0.0.1",
  });
});

test("a client that is not installed is told with how to install it", async () => {
  const name = "no-such-client";

  await expect(importClient(name, () => import(name))).rejects.toMatchObject({
    code: "USAGE_INVALID",
    hint: "Install it beside Waypoint: npm install no-such-client",
  });
  const broken = Promise.reject(new Error("broken"));
  await expect(importClient(name, () => broken)).rejects.toThrow("broken");
});
