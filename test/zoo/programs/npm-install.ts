import type { ZooProgram } from "../zoo-program.ts";

const PACKAGE = JSON.stringify({
  name: "zoo",
  version: "1.0.0",
  dependencies: { waits: "file:waits" },
});
/** Its install script asks: npm stands in the middle of its work until it is answered. */
const WAITS = JSON.stringify({
  name: "waits",
  version: "1.0.0",
  scripts: {
    install: "while read line; do echo $line; [ $line = end ] && exit; done < /srv/npm/in",
  },
});

export const npmInstall: ZooProgram = {
  name: "npm install, in the middle",
  version: "npm --version 2> /dev/null",
  start: async (stage) => {
    await stage.write("/srv/npm/package.json", PACKAGE);
    await stage.write("/srv/npm/waits/package.json", WAITS);
    await stage.run("cd /srv/npm; mkfifo in");
    await stage.background(
      "exec 3<> /srv/npm/in; cd /srv/npm; npm install --offline --foreground-scripts > out; echo $? > ended",
    );
    await stage.until("cat /srv/npm/out", /install/);
    await stage.until("pgrep -f 'while read line' && echo waits", /waits/);
  },
  see: (stage) => stage.run("cd /srv/npm; ls; cat out; pgrep -f '^npm install'"),
  change: async (stage, mark) => void (await stage.run(`echo ${mark} > /srv/npm/in`)),
  finish: async (stage) => {
    await stage.run("echo end > /srv/npm/in");
    await stage.until("cat /srv/npm/ended", /^0$/);
    await stage.run("cd /srv/npm; npm ls waits && cat package-lock.json");
  },
};
