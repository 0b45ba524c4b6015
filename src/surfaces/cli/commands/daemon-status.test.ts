import { expect, test } from "vitest";
import { renderNetworks } from "./daemon-status.ts";

test.for([
  [2, 1, "2 ready in advance, 1 program that makes links"],
  [0, 0, "0 ready in advance, 0 programs that make links"],
  [1, 4, "1 ready in advance, 4 programs that make links"],
] as const)("%s networks and %s programs are %s", ([readyCount, makerCount, line]) => {
  expect(renderNetworks({ readyCount, makerCount })).toBe(line);
});
