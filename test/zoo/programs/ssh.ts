import { passwordProgram } from "../password-program.ts";

const OPTIONS = ["StrictHostKeyChecking=no", "LogLevel=ERROR", "PubkeyAuthentication=no"];

/** Its server is in the session too, and waits for the same password. */
export const ssh = passwordProgram({
  name: "ssh, waiting for a password",
  version: "ssh -V 2>&1",
  prepare: async (stage) => {
    await stage.run("dropbearkey -t ed25519 -f /srv/key");
    // sshd lets the process that waits for a password open nothing, so that CRIU refuses it.
    await stage.background("exec dropbear -F -r /srv/key -p 127.0.0.1:2222");
    await stage.until("ss -ltn", /:2222/);
  },
  command: `ssh ${OPTIONS.map((option) => `-o ${option}`).join(" ")} -p 2222 zoo@127.0.0.1 touch $file`,
});
