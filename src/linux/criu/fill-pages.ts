import { connect } from "node:net";
import { join } from "node:path";

const CONTROL_SOCKET = "pages-control.sock";
const ANSWER_BYTES_MAX = 256;
/** More than any tree has. */
const ALL_BYTES = Number.MAX_SAFE_INTEGER;

/** What a pages server has still to bring. */
export interface PagesLeft {
  leftBytes: number;
  /** Nothing is to be brought that nobody touches: whoever started it wants it so, and nobody keeps its fork. */
  isTouchedOnly: boolean;
}

/** Returns where the pages server in `workDir` is asked for something. */
export function pagesSocketPath(workDir: string): string {
  return join(workDir, CONTROL_SOCKET);
}

/** Returns what is still to come. @throws Error  the server has ended, or does not answer in time. */
export async function pagesLeft(workDir: string, timeoutMs: number): Promise<PagesLeft> {
  return await ask(workDir, "left", timeoutMs);
}

/** Has a server bring what nobody touches, too, when it is asked to. @throws Error  as {@link pagesLeft}. */
export async function keepPages(workDir: string, timeoutMs: number): Promise<PagesLeft> {
  return await ask(workDir, "keep", timeoutMs);
}

/**
 * Has about so much brought that nobody has touched, and returns what is left.
 *
 * @param wantedBytes  `null` for everything.
 * @throws Error  as {@link pagesLeft}.
 */
export async function fillPages(
  workDir: string,
  wantedBytes: number | null,
  timeoutMs: number,
): Promise<PagesLeft> {
  return await ask(workDir, `fill ${wantedBytes ?? ALL_BYTES}`, timeoutMs);
}

/**
 * Makes a server ready for a dump that leaves out what is not there yet: all that it could bring is known
 * to be what was captured, and what no dump could leave out has come.
 *
 * @param how.isCompared  the images are known that what is left out is taken from.
 * @throws Error  as {@link pagesLeft}.
 */
export async function preparePages(
  workDir: string,
  timeoutMs: number,
  { isCompared }: { isCompared: boolean },
): Promise<PagesLeft> {
  return await ask(workDir, isCompared ? "prepare compared" : "prepare", timeoutMs);
}

function ask(workDir: string, request: string, timeoutMs: number): Promise<PagesLeft> {
  return new Promise((resolve, reject) => {
    let answer = "";
    const socket = connect(pagesSocketPath(workDir));
    const timer = setTimeout(() => fail("does not answer"), timeoutMs);
    const fail = (why: string) => {
      clearTimeout(timer);
      socket.destroy();
      reject(new Error(`The pages server ${why}.`));
    };
    socket.once("connect", () => socket.write(`${request}\n`));
    socket.once("error", (error) => fail(`cannot be asked: ${error.message}`));
    socket.once("close", () => {
      const found = /^left (\d+) (all|touched)\n$/.exec(answer);
      if (found === null) return fail("has ended");
      clearTimeout(timer);
      resolve({ leftBytes: Number(found[1]), isTouchedOnly: found[2] === "touched" });
    });
    socket.on("data", (chunk) => {
      answer += chunk.toString("latin1");
      if (answer.length > ANSWER_BYTES_MAX) fail("says too much");
    });
  });
}
