import { expect, test } from "vitest";
import { mayChangeShell } from "./changes-shell.ts";

test.each([
  "export STAGE=dev",
  "cd /srv; export STAGE=dev",
  "STAGE=dev",
  "A=1 B='two words'",
  "list=(a b c); echo ok",
  "HASH=$(git rev-parse HEAD)",
  ". .venv/bin/activate",
  "source ~/.bashrc",
  "[ -f x ] && . ./x",
  "set -e",
  "alias ll='ls -l'",
  "greet() { echo hi; }",
  "if true; then unset STAGE; fi",
  "nvm use 24",
  "ls\numask 077",
])("%s may", (line) => {
  expect(mayChangeShell(line)).toBe(true);
});

test.each([
  "ls -la",
  "STAGE=dev npm test",
  "echo export STAGE=dev",
  "grep -rn 'export default' src",
  "cat settings.json; ./set-up --dry-run",
  "git log --format=%H",
  "find . -name '*.sh' | head",
  "npm run set",
  "curl 'http://localhost/?a=1'",
  "node -e 'let a = 1; console.log(a)'",
])("%s does not", (line) => {
  expect(mayChangeShell(line)).toBe(false);
});

test.each([
  `echo ${"a=".repeat(500_000)}`,
  `${"a=".repeat(1_500)}"`,
  `a=${"$(x)".repeat(900)}"`,
  `${"a=b ".repeat(900)}"`,
  `${";".repeat(3_900)} x`,
  `${"do ".repeat(1_300)}x`,
  `${" ".repeat(3_900)}x`,
])("no line takes long: %#", (line) => {
  expect(mayChangeShell(line)).toBe(false);
});
