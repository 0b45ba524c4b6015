import { expect, test } from "vitest";
import { findCalled } from "./find-called.ts";

test.for([
  ["ls", "ls"],
  ["exec web -- ls", "exec"],
  ["--json ls", "ls"],
  ["--dir ls exec web", "exec"],
  ["--dir=ls --no-color --no-pager exec web", "exec"],
  ["daemon status", "daemon"],
  ["ls --help", "ls"],
] as const)("%s calls %s", ([line, name]) => {
  expect(findCalled(line.split(" "))?.name).toBe(name);
});

test.for(["", "help ls", "lss", "--help ls", "-h", "--version", "--bogus ls", "-- ls", "--dir"])(
  "what %s calls is left to the parser of all commands",
  (line) => {
    expect(findCalled(line === "" ? [] : line.split(" "))).toBeUndefined();
  },
);
