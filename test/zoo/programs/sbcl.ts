import { terminalProgram } from "../terminal-program.ts";

export const sbcl = terminalProgram({
  name: "SBCL",
  version: "sbcl --version",
  command: "sbcl --noinform",
  ready: /^\* $/,
  setup: ['(defvar state (list "none"))'],
  question: (number) => `(format t "~&${number}:~a ~a:~%" (length state) (first state))`,
  addition: (mark) => `(push "${mark}" state)`,
});
