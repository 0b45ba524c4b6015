import { terminalProgram } from "../terminal-program.ts";

/** Talks to a program on a terminal of its own; each answer is that program's. */
export const expect = terminalProgram({
  name: "expect, with a program it talks to",
  version: "expect -v",
  command: "expect",
  ready: /^expect1\.1> $/,
  setup: ["log_user 0; set timeout 60; set state none; spawn -noecho bash --norc"],
  question: (number) =>
    `send "echo a''sk\\r"; expect "ask\\r" { puts "\\n${number}:[llength $state] [lindex $state end]:" }`,
  addition: (mark) => `lappend state ${mark}`,
});
