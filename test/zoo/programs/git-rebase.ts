import type { ZooProgram } from "../zoo-program.ts";

/** `git rebase -i` waits for vi, in which a commit's message is being written. */
export const gitRebase: ZooProgram = {
  name: "git rebase -i, stopped in the middle",
  version: "git --version",
  start: async (stage) => {
    await stage.run(`git init -q /root/repository; cd /root/repository
      git config user.name Zoo; git config user.email zoo@example.org
      for name in one two three four; do
        echo $name > $name; git add $name; git commit -qm "add $name"
      done`);
    await stage.enter(
      "clear; cd /root/repository; GIT_SEQUENCE_EDITOR=\"sed -i 's/^pick/reword/'\" GIT_EDITOR='vim --clean' git rebase -i HEAD~2",
    );
    await stage.terminal.waitFor(/^add three$/);
    await stage.terminal.type("O");
    await stage.terminal.waitFor(/-- INSERT --/);
  },
  see: async (stage) => {
    const shown = stage.lines(/^dear|^add|^# (pick|reword)|-- INSERT --/);
    // How much of the file is in sight is for the size of the screen to say.
    return shown.replace(/(-- INSERT --).*/, "$1");
  },
  change: (stage, mark) => stage.enter(`dear ${mark}`),
  finish: async (stage) => {
    await stage.terminal.type("\u001b:wq\r");
    await stage.terminal.waitFor(/^add four$/);
    await stage.terminal.type(":wq\r");
    await stage.terminal.waitFor(/Successfully rebased/);
    const log = await stage.run("cd /root/repository; git log --format=%s; git fsck; git status");
    if (!/^add four\ndear first.*\nadd two\nadd one\n/s.test(log)) throw new Error(log);
  },
};
