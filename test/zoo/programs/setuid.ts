import type { ZooProgram } from "../zoo-program.ts";

/** A user's `su` asks for a password: it runs as root on behalf of another user. */
export const setuid: ZooProgram = {
  name: "a setuid program (su asks for a password)",
  version: "su --version",
  start: async (stage) => {
    await stage.run("useradd zoo; printf 'zoo:secret' | chpasswd; mkdir -p -m 777 /srv/marks");
    await stage.enter("clear; setpriv --reuid zoo --regid zoo --clear-groups su -c 'id -un' zoo");
    await stage.terminal.waitFor(/^Password: ?$/);
  },
  see: (stage) => stage.run("grep -h ^Uid /proc/$(pgrep -xo su)/status; ls /srv/marks"),
  change: async (stage, mark) => void (await stage.run(`touch /srv/marks/${mark}`)),
  finish: async (stage) => {
    await stage.enter("secret");
    await stage.terminal.waitFor(/^zoo$/);
  },
};
