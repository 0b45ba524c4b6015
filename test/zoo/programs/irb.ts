import { terminalProgram } from "../terminal-program.ts";

export const irb = terminalProgram({
  name: "Ruby, irb",
  version: "ruby --version",
  command: "irb -f --simple-prompt --nomultiline --noautocomplete",
  ready: /^>> $/,
  setup: ["state = ['none']; half = (1..10).each; half.next"],
  question: (number) => `puts "#{${number.length} && '${number}'}:#{state.size} #{state.last}:"`,
  addition: (mark) => `state << "${mark}"`,
});
