import { sessionShell } from "../session-shell.ts";

export const zsh = sessionShell({
  shell: "zsh",
  ready: /^\S+[#%]\s*$/,
  setup: [
    "cd /usr; state=; sleep 100000 &",
    `greet() { print "$1:\${#state} \${state##* } \${#jobstates}:" }`,
  ],
  question: (number) => `greet ${number}`,
  addition: (mark) => `state+=' ${mark}'`,
});
