import type { ZooProgram } from "../zoo-program.ts";

/** A client on the terminal, and windows that each hold a line half typed. */
export const tmux: ZooProgram = {
  name: "tmux, several windows",
  version: "tmux -V",
  start: async (stage) => {
    await stage.enter("clear; tmux -f /dev/null new -s zoo -n one 'bash --norc'");
    await stage.until("tmux list-windows -t zoo", /one/);
  },
  see: (stage) =>
    stage.run(
      "for w in $(tmux list-windows -t zoo -F '#W'); do tmux capture-pane -p -t zoo:$w | head -3; done",
    ),
  change: async (stage, mark) => {
    await stage.run(`tmux new-window -d -t zoo -n ${mark} 'bash --norc'`);
    const window = `tmux capture-pane -p -t zoo:${mark}`;
    await stage.until(window, /# *$/);
    await stage.run(`tmux send-keys -t zoo:${mark} 'echo half-${mark}'`);
    await stage.until(window, new RegExp(`# echo half-${mark}$`));
  },
};
