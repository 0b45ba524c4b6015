import { terminalProgram } from "../terminal-program.ts";

/** Jobs, traps, functions and variables; the session's own shell starts it on the terminal. */
export const bash = terminalProgram({
  name: "bash",
  version: "bash --version",
  command: "PS1='zoo> ' bash --norc",
  ready: /^zoo> $/,
  setup: [
    "state=; sleep 100000 & trap 'state+=trapped' USR1",
    `greet() { echo "$1:$(wc -w <<< "$state") \${state##* } $(jobs -r | wc -l):"; }`,
  ],
  question: (number) => `greet ${number}`,
  addition: (mark) => `state+=' ${mark}'`,
});
