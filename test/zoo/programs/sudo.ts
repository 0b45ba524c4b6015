import { passwordProgram } from "../password-program.ts";

export const sudo = passwordProgram({
  name: "sudo, waiting for a password",
  version: "sudo --version",
  prepare: async (stage) => {
    await stage.write("/etc/sudoers.d/zoo", "zoo ALL=(ALL) ALL\n");
    await stage.run("chmod 440 /etc/sudoers.d/zoo");
  },
  as: "setpriv --reuid zoo --regid zoo --clear-groups",
  command: "sudo -k touch $file",
});
