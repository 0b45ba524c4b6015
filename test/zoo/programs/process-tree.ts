import type { ZooProgram } from "../zoo-program.ts";

const BRANCHES = 30;
const DEPTH = 10;

/** Hands each line of its FIFO on to the process below; the last one writes it to a file. */
const NODE = `
exec 3<> /srv/tree/$1-$2
if [ $2 -gt 1 ]; then sh /root/node.sh $1 $(($2 - 1)) & below=/srv/tree/$1-$(($2 - 1))
else below=/srv/tree/leaf-$1; fi
while read mark <&3; do echo $mark > $below; done
`;

/** Ten processes in a row below each other, thirty times. */
export const processTree: ZooProgram = {
  name: `a tree of ${BRANCHES * DEPTH} processes`,
  version: "dpkg-query -W dash",
  start: async (stage) => {
    await stage.write("/root/node.sh", NODE);
    await stage.run(`mkdir /srv/tree; cd /srv/tree; mkfifo {1..${BRANCHES}}-{1..${DEPTH}}`);
    await stage.background(
      `for i in {1..${BRANCHES}}; do sh /root/node.sh $i ${DEPTH} & done; wait`,
    );
    await stage.until("pgrep -fc '^sh /root/node.sh'", new RegExp(`^${BRANCHES * DEPTH}$`));
  },
  see: (stage) => stage.run("pgrep -fc '^sh /root/node.sh'; cat /srv/tree/leaf-* | sort | uniq -c"),
  change: async (stage, mark) => {
    await stage.run(`for i in {1..${BRANCHES}}; do echo ${mark} > /srv/tree/$i-${DEPTH}; done`);
    const all = new RegExp(`${BRANCHES} ${mark}$`);
    await stage.until("cat /srv/tree/leaf-* | sort | uniq -c", all);
  },
};
