import type { Stage } from "./stage.ts";
import type { ZooProgram } from "./zoo-program.ts";

/** A program that asks for a password on `/dev/tty`, again and again. */
export interface PasswordProgram extends Pick<ZooProgram, "name" | "version"> {
  prepare?: ZooProgram["start"];
  /** Started in front of the script that asks; the script gets the mark in `$mark`. */
  as?: string;
  /** Line of bash that asks for the password of the user zoo, "secret", and then makes `$file`. */
  command: string;
}

/** Reads a mark, and has the program ask for the password before the mark's file is made. */
const SCRIPT = (command: string) => `
while read -p 'whose? ' mark; do
  clear
  echo "for $mark"
  file=/srv/marks/$mark
  ${command}
done
`;

/**
 * Makes a program of the zoo of one that asks for a password: each mark has been asked for in one
 * run of it, which waits. The password for the one before is typed first, and is the right one.
 */
export function passwordProgram(program: PasswordProgram): ZooProgram {
  return {
    name: program.name,
    version: program.version,
    start: async (stage) => {
      await stage.run("useradd -m zoo; printf 'zoo:secret' | chpasswd; mkdir -m 777 /srv/marks");
      await program.prepare?.(stage);
      await stage.write("/srv/ask.sh", SCRIPT(program.command));
      await stage.enter(`clear; ${program.as ?? ""} bash /srv/ask.sh`);
      await stage.terminal.waitFor(/^whose\? $/);
      await askFor(stage, "nobody");
    },
    see: async (stage) => `${stage.lines(/^for|password/i)} ${await stage.run("ls /srv/marks")}`,
    change: async (stage, mark) => {
      await stage.enter("secret");
      await stage.terminal.waitFor(/^whose\? $/);
      await askFor(stage, mark);
    },
    finish: async (stage) => {
      const [, mark] = await stage.terminal.waitFor(/^for (\w+)$/);
      await stage.enter("secret");
      await stage.until("ls /srv/marks", new RegExp(`^${mark}$`, "m"));
    },
  };
}

async function askFor(stage: Stage, mark: string): Promise<void> {
  await stage.enter(mark);
  await stage.terminal.waitFor(new RegExp(`^for ${mark}$`));
  await stage.terminal.waitFor(/password.*: ?$/i);
}
