import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join } from "node:path";
import { Script } from "node:vm";

/** As Node wraps a module, in front of its first line. */
const WRAPPER = "(function (exports, require, module, __filename, __dirname) { ";

type Wrapped = (...given: readonly unknown[]) => void;

/** Code is kept for each command, since each runs other functions; what is no command has this in common. */
export const NO_COMMAND = "other";

/**
 * Loads a file of the bundle, which `require` then gives, with the code that was kept when the same command
 * was called before. Node's own cache keeps what loading compiles and none of the functions that run then,
 * which costs each start 2 ms.
 *
 * Returns what keeps the code that has run until then for a command, where that was not what was loaded.
 * **Requires** the file is ASCII and imports nothing while it runs, for which Node would print a warning;
 * `command` is a name for a file.
 */
export function loadWithKeptCode(
  file: string,
  folder: string,
  command: string,
): (command: string) => void {
  // V8 compares no more than the length of the text.
  const { size, mtimeMs } = statSync(file);
  const fileOf = (name: string) => join(folder, `${basename(file)}-${size}-${mtimeMs}-${name}`);
  const [found] = [command, NO_COMMAND].flatMap((name) => readIfThere(name, fileOf(name)));
  const script = new Script(`${WRAPPER}${readFileSync(file, "latin1")}\n})`, {
    ...{ filename: file, columnOffset: -WRAPPER.length },
    ...(found === undefined ? {} : { cachedData: found.code }),
  });
  run(script, file);
  const used = script.cachedDataRejected === true ? undefined : found?.name;
  return (name) => {
    if (name !== used) keep(fileOf(name), script);
  };
}

function run(script: Script, file: string): void {
  const require = createRequire(file);
  const module = { id: file, filename: file, exports: {}, children: [], paths: [], loaded: false };
  require.cache[file] = module as unknown as NodeJS.Module;
  const wrapped = script.runInThisContext() as Wrapped;
  wrapped.call(module.exports, module.exports, require, module, file, dirname(file));
  module.loaded = true;
}

function readIfThere(name: string, file: string): { name: string; code: Buffer }[] {
  try {
    return [{ name, code: readFileSync(file) }];
  } catch {
    return [];
  }
}

/** Half a file would be run as it is, so it gets its name when the disk has it. */
function keep(file: string, script: Script): void {
  const beside = `${file}.${process.pid}`;
  try {
    mkdirSync(dirname(file), { recursive: true });
    const descriptor = openSync(beside, "wx", 0o644);
    try {
      writeFileSync(descriptor, script.createCachedData());
      fsyncSync(descriptor);
      renameSync(beside, file);
    } catch {
      rmSync(beside, { force: true });
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // Whoever may not write beside the program starts slower.
  }
}
