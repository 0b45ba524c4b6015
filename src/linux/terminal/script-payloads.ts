import { WaypointError } from "../../shared/errors/index.ts";
import { encodeNumbers } from "./frames.ts";

const CHUNK_BYTES = 60 * 1024;
/** The largest script of one command. */
const SCRIPT_BYTES_MAX = 1024 * 1024;

const SHELL_TTY = 1;
const SHELL_SHOW = 2;
const SHELL_POSIX = 4;
const SHELL_MORE = 8;

/** How a script runs in a terminal's live shell. */
export interface RunInShellOptions {
  /** Runs on the terminal itself, without stdout and stderr of its own. @defaultValue false */
  tty?: boolean;
  /** Shows prompt, command and output to those who watch the terminal. @defaultValue true */
  show?: boolean;
  /** `bash` started with {@link BASH_RC}, or any other shell. */
  shell: "bash" | "posix" | "zsh" | "fish";
  /** The script is not sent any more when this is aborted. */
  signal?: AbortSignal;
}

/** Returns the payloads of the requests that run a script. @throws USAGE_INVALID */
export function scriptPayloads(script: string, options: RunInShellOptions): Buffer[] {
  const bytes = Buffer.from(script);
  if (bytes.length > SCRIPT_BYTES_MAX || bytes.includes(0)) {
    throw new WaypointError("USAGE_INVALID", "A script is text of at most 1 MiB without NUL.");
  }
  const flags =
    (options.tty === true ? SHELL_TTY : 0) |
    (options.show === false ? 0 : SHELL_SHOW) |
    (options.shell === "bash" ? 0 : SHELL_POSIX);
  const chunkCount = Math.max(1, Math.ceil(bytes.length / CHUNK_BYTES));
  return Array.from({ length: chunkCount }, (_, number) => {
    const more = number < chunkCount - 1 ? SHELL_MORE : 0;
    const chunk = bytes.subarray(number * CHUNK_BYTES, (number + 1) * CHUNK_BYTES);
    return Buffer.concat([encodeNumbers(flags | more), chunk]);
  });
}
