import { sessionShell } from "../session-shell.ts";

export const fish = sessionShell({
  shell: "fish",
  ready: /^\S*@\S+ \S+# ?$/,
  setup: [
    "cd /usr; set state none; sleep 100000 &",
    'function greet; printf "%s:%s:\\n" $argv[1] (count $state)" $state[-1] "(count (jobs -p)); end',
  ],
  question: (number) => `greet ${number}`,
  addition: (mark) => `set -a state ${mark}`,
});
