import { expect, test } from "vitest";
import { COMMAND_TABLE } from "../command-table.ts";
import { completeWords } from "./complete-words.ts";
import { COMPLETED_SHELLS, shellScript } from "./shell-script.ts";

const KNOWN = {
  sessions: [
    { name: "work", what: "running" },
    { name: "web", what: "stopped" },
  ],
  checkpoints: [{ name: "green", what: "tests pass" }],
};

const complete = (...words: string[]) =>
  completeWords(words, COMMAND_TABLE, KNOWN)
    .split("\n")
    .filter((line) => line !== "" && !line.startsWith(":"))
    .map((line) => line.split("\t")[0]);

test.for([
  [["sta"], ["start", "standby", "state", "status"]],
  [
    ["ps", ""],
    ["work", "web"],
  ],
  [["ps", "wo"], ["work"]],
  [
    ["stop", "work", ""],
    ["work", "web"],
  ],
  [
    ["fork", ""],
    ["work", "web", "green"],
  ],
  [["restore", "work", "gr"], ["green"]],
  [
    ["diff", "green", "w"],
    ["work", "web"],
  ],
  [
    ["rm", ""],
    ["work", "web", "green"],
  ],
  [
    ["op", "log", ""],
    ["work", "web"],
  ],
  [
    ["new", "--net", ""],
    ["nat", "none", "host"],
  ],
  [["fork", "green", "--cou"], ["--count"]],
  [["run", "--from", "g"], ["green"]],
  [
    ["completion", ""],
    ["bash", "zsh", "fish"],
  ],
  [["config", "no"], ["noise"]],
  [["config", "--unset", "de"], ["detach-keys"]],
  [["verify", "--set", "wo"], ["work"]],
  [["verify", "--unset", "we"], ["web"]],
  [
    ["help", "sta"],
    ["start", "standby", "state", "status"],
  ],
  [["base", "add", "debian", "--from", ""], []],
  [["nonsense", ""], []],
] as const)("%j is completed", ([words, expected]) => {
  expect(new Set(complete(...words))).toEqual(new Set(expected));
});

test("a name comes with what it stands for", () => {
  expect(completeWords(["show", "gr"], COMMAND_TABLE, KNOWN)).toMatch(/^green\ttests pass\n:4\n$/);
});

test("the script of each shell asks this program, and can be read twice", () => {
  for (const shell of COMPLETED_SHELLS) {
    expect(shellScript(shell)).toContain("waypoint complete --");
    expect(shellScript(shell)).not.toMatch(/^readonly /m);
  }
});
