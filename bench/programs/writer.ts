import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { pollUntil } from "../../src/base/index.ts";
import { inBackground, type Program } from "./program.ts";

/** Where a writer has its files, in its session. */
export const WRITER_DIRECTORY = "/tmp";
const WRITE_TIMEOUT_MS = 60_000;

/**
 * Returns a program with much memory that writes 10 MiB here and there in it when it is asked to, that also works on
 * meanwhile, or that writes all of it all the time.
 */
export function writerProgram(
  writer: Buffer,
  mebibytes: number,
  mode: "asked" | "works" | "all",
): Program {
  const command = `/tmp/writer ${mebibytes} ${WRITER_DIRECTORY} ${mode}`;
  return {
    files: { "/tmp/writer": writer },
    start: `chmod 755 /tmp/writer; ${inBackground(command)}`,
    isReady: `test -e ${WRITER_DIRECTORY}/full`,
  };
}

/** Has 10 MiB written, and waits until they are; `number` is how often that was asked for. */
export async function haveWritten(init: number, number: number): Promise<void> {
  const inside = `/proc/${init}/root${WRITER_DIRECTORY}`;
  // At once: of a file that is empty for a moment the program would read another number, and write twice.
  writeFileSync(`${inside}/wanted.new`, String(number));
  renameSync(`${inside}/wanted.new`, `${inside}/wanted`);
  await pollUntil("the write", { timeoutMs: WRITE_TIMEOUT_MS }, () => {
    try {
      return readFileSync(`${inside}/done`, "utf8") === String(number) ? true : undefined;
    } catch {
      return undefined; // It has written nothing yet.
    }
  });
}
