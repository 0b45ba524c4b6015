import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  chmodSync,
  lchownSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import fc from "fast-check";
import { bytesOf } from "./file-tree.ts";

/** One thing that a program does to files. Paths are relative to a tree, each byte a character. */
export interface FileStep {
  kind: (typeof KINDS)[number];
  path: string;
  other: string;
  number: number;
}

const KINDS = [
  ...["write", "append", "truncate", "rewrite", "replace", "rename", "move"],
  ...["link", "symlink", "chmod", "chown", "remove", "mkdir", "mkfifo"],
  ...["fileToDirectory", "directoryToFile", "touch", "swap"],
] as const;

/** Names that a shell would stumble over; those of the base come more often. */
const NAMES = ["a", "b", "sub", "f1", "f2", "g", "two words", "new\nline", "\xff\xfe", "\x1b[31m"];

const path = fc
  .array(fc.constantFrom(...NAMES), { minLength: 1, maxLength: 3 })
  .map((names) => names.map((name) => `/${name}`).join(""));

/** Any sequence of steps. */
export const fileSteps: fc.Arbitrary<FileStep[]> = fc.array(
  fc.record({
    kind: fc.constantFrom(...KINDS),
    path,
    other: path,
    number: fc.nat({ max: 70_000 }),
  }),
  { minLength: 1, maxLength: 12 },
);

/** Fills a tree of a base, so that steps meet what was there before the session. */
export function makeBaseTree(top: string): void {
  mkdirSync(`${top}/a/sub`, { recursive: true });
  mkdirSync(`${top}/b`);
  for (const name of ["a/f1", "a/f2", "a/sub/g", "b/g", "f1"]) {
    writeFileSync(`${top}/${name}`, `of the base: ${name}\n`.repeat(name.length * 100));
  }
  symlinkSync("f1", `${top}/g`);
  execFileSync("mkfifo", [`${top}/b/f1`]);
}

/** Does one step; what the kernel refuses is not done, as a program would meet it. */
export function doStep(top: string, step: FileStep): void {
  try {
    const at = (relative: string) => bytesOf(`${top}${relative}`);
    const { kind, path: target, other, number } = step;
    DEEDS[kind]({ target: at(target), other: at(other), number, at });
  } catch (error) {
    const isRefused = error instanceof Error && ("code" in error || "status" in error);
    if (!isRefused) throw error;
  }
}

/** What a step works with: two places, the way to any, and a number. */
interface StepSite {
  target: Buffer;
  other: Buffer;
  number: number;
  at: (relative: string) => Buffer;
}

const DEEDS: Record<FileStep["kind"], (site: StepSite) => void> = {
  write: ({ target, number }) => writeFileSync(notSpecial(target), text(number)),
  append: ({ target, number }) => appendFileSync(file(target), text(number)),
  truncate: ({ target, number }) => truncateSync(file(target), number),
  rewrite: ({ target }) => writeFileSync(file(target), readFileSync(target)),
  replace: ({ target, other, number }) => {
    writeFileSync(notSpecial(other), text(number));
    renameSync(other, target);
  },
  rename: ({ target, other }) => renameSync(target, other),
  // As `mv` does it where the overlay refuses to rename: it copies, and removes what was there.
  move: ({ target, other }) => call("mv", "-T", "--", nameFor(target), nameFor(other)),
  swap: ({ target, other, at }) => {
    renameSync(target, at("/swapped"));
    renameSync(other, target);
    renameSync(at("/swapped"), other);
  },
  link: ({ target, other }) => linkSync(target, other),
  symlink: ({ target, number }) => symlinkSync(text(number % 200), target),
  chmod: ({ target, number }) => chmodSync(noLink(target), number % 0o1000),
  chown: ({ target, number }) => lchownSync(target, number % 3, number % 5),
  touch: ({ target }) => call("touch", "-h", "--", nameFor(target)),
  remove: ({ target }) => rmSync(target, { recursive: true }),
  mkdir: ({ target }) => void mkdirSync(target, { recursive: true }),
  mkfifo: ({ target }) => call("mkfifo", nameFor(target)),
  fileToDirectory: ({ target }) => {
    rmSync(target);
    mkdirSync(target);
  },
  directoryToFile: ({ target, number }) => {
    rmSync(target, { recursive: true });
    writeFileSync(target, text(number));
  },
};

function call(program: string, ...args: string[]): void {
  execFileSync(program, args, { stdio: "ignore" });
}

/** Returns what is a file, not a link to one somewhere else; else nothing is done. */
function file(target: Buffer): Buffer {
  if (lstatSync(target).isFile()) return target;
  throw Object.assign(new Error("no file"), { code: "EINVAL" });
}

function noLink(target: Buffer): Buffer {
  return lstatSync(target).isSymbolicLink() ? file(target) : target;
}

/** Opening a fifo would wait for somebody at its other end. */
function notSpecial(target: Buffer): Buffer {
  return lstatSync(target, { throwIfNoEntry: false }) === undefined ? target : file(target);
}

/** Arguments of programs are text; names that are none are left to the other steps. */
function nameFor(target: Buffer): string {
  const name = target.toString("utf8");
  if (Buffer.from(name).equals(target)) return name;
  throw Object.assign(new Error("no text"), { code: "EILSEQ" });
}

function text(number: number): string {
  return `line ${number}\n`.repeat(1 + (number % 900));
}
