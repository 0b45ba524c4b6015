import { inBackground, type Program } from "./program.ts";

/** Holds as many MiB as it is told, makes a file when it does, and writes a page twenty times a second. */
const HOLDER = `import os, sys, time
memory = bytearray(os.urandom(1 << 20) * int(sys.argv[1]))
open(sys.argv[2], "w").close()
at = 0
while True:
    memory[at] = (memory[at] + 1) % 256
    at = (at + 4099 * 4096) % len(memory)
    time.sleep(0.05)
`;
const FILE = "/tmp/holder.py";

/** Returns so many Python programs, each of which holds memory and writes a page of it now and then. */
export function holders(count: number, mebibytes: number): Program[] {
  return Array.from({ length: count }, (_, number) => {
    const ready = `/tmp/holder-${number}`;
    return {
      files: { [FILE]: Buffer.from(HOLDER) },
      start: inBackground(`python3 ${FILE} ${mebibytes} ${ready}`),
      isReady: `test -e ${ready}`,
    };
  });
}
