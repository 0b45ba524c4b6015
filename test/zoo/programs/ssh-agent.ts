import type { ZooProgram } from "../zoo-program.ts";

const LINE = "export SSH_AUTH_SOCK=/root/agent; ";

/** Its keys are nowhere but in its memory. */
export const sshAgent: ZooProgram = {
  name: "ssh-agent",
  version: "ssh -V 2>&1",
  start: async (stage) => {
    await stage.background("exec ssh-agent -D -a /root/agent");
    await stage.until(`${LINE} ssh-add -l || true`, /no identities/);
  },
  see: (stage) => stage.run(`${LINE} ssh-add -l`),
  change: async (stage, mark) => {
    await stage.run(
      `${LINE} ssh-keygen -qt ed25519 -N '' -C ${mark} -f /root/key; ssh-add /root/key; rm /root/key*`,
    );
  },
};
