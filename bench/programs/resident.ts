import { compile, inBackground, type Program } from "./program.ts";

const FILE = "/tmp/resident";

/** Returns a program that holds so much memory, no two pages of it alike, and reads it now and then. */
export async function resident(
  mebibytes: number,
  { buildDir }: { buildDir: string },
): Promise<Program> {
  const ready = `/tmp/full-${mebibytes}`;
  return {
    files: { [FILE]: await compile("resident", buildDir) },
    start: `chmod 755 ${FILE}; ${inBackground(`${FILE} ${mebibytes} ${ready}`)}`,
    isReady: `test -e ${ready}`,
  };
}
