import { terminalProgram } from "../terminal-program.ts";

/** Opens `/dev/tty` for its jobs, of which one runs. */
export const mksh = terminalProgram({
  name: "mksh",
  version: "mksh -c 'echo $KSH_VERSION'",
  command: "mksh",
  ready: /^# $/,
  setup: ["state=; sleep 100000 &"],
  question: (number) => `echo "${number}:$state $(kill -0 $! && echo runs):"`,
  addition: (mark) => `state="$state ${mark}"`,
});
