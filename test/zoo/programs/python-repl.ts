import { terminalProgram } from "../terminal-program.ts";

export const pythonRepl = terminalProgram({
  name: "Python REPL",
  version: "/usr/bin/python3 --version",
  command: "/usr/bin/python3 -q",
  ready: /^>>> $/,
  setup: ["state = ['none']; half = iter(range(10)); _ = next(half)"],
  question: (number) => `print(f"${number}:{len(state)} {state[-1]}:")`,
  addition: (mark) => `state.append("${mark}")`,
});
