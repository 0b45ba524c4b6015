import { terminalProgram } from "../terminal-program.ts";

export const zsh = terminalProgram({
  name: "zsh",
  version: "zsh --version",
  command: "zsh -f",
  ready: /^\S+# $/,
  setup: ["state=; sleep 100000 &!", `greet() { print "$1:\${#state} \${state##* }:" }`],
  question: (number) => `greet ${number}`,
  addition: (mark) => `state+=' ${mark}'`,
});
