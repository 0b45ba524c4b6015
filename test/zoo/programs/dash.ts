import { terminalProgram } from "../terminal-program.ts";

/** Holds `/dev/tty` for its jobs; a stopped one can be continued. */
export const dash = terminalProgram({
  name: "dash in bash",
  version: "dpkg-query -W dash",
  command: "PS1='> ' dash",
  ready: /^> $/,
  setup: ["state=; cat &"],
  question: (number) => `echo "${number}:$state $(jobs | grep -c Stopped):"`,
  addition: (mark) => `state="$state ${mark}"`,
});
