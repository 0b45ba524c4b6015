import { terminalProgram } from "../terminal-program.ts";

export const fish = terminalProgram({
  name: "fish",
  version: "fish --version",
  command: "fish --no-config",
  ready: /^root@\S+ ~# ?$/,
  setup: [
    "set state none",
    'function greet; printf "%s:%s:\\n" $argv[1] (count $state)" $state[-1]"; end',
  ],
  question: (number) => `greet ${number}`,
  addition: (mark) => `set -a state ${mark}`,
});
