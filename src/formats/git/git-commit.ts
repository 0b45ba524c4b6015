import type { GitChange } from "../../shared/protocol/index.ts";
import type { GitObject } from "./git-pack.ts";

/** No calendar goes further. */
const SECONDS_MAX = 8.64e12;
/** Of headers and of the message: what is told stands at their beginning. */
const PART_BYTES_MAX = 16 * 1024;
/** Longest subject that is told. */
const SUBJECT_CHARACTERS_MAX = 500;

/** A commit as its object says. */
export interface GitCommit {
  id: string;
  tree: string;
  parents: string[];
  /** When it was made, in seconds; not when its changes were. */
  seconds: number;
  author: string;
  subject: string;
}

/** @throws Error  the object is no commit. */
export function parseCommit(id: string, { type, content }: GitObject): GitCommit {
  const end = content.indexOf("\n\n");
  const headers = content.subarray(0, Math.min(end === -1 ? content.length : end, PART_BYTES_MAX));
  const fields = [...headers.toString("latin1").matchAll(/^([a-z]+) (.*)$/gm)];
  const values = (name: string) =>
    fields.flatMap(([, key, value = ""]) => (key === name ? [value] : []));
  const [tree] = values("tree");
  if (type !== "commit" || tree === undefined) throw new Error(`${id} is no commit`);
  const decode = decoderOf(values("encoding")[0]);
  const [, , seconds = "0"] = /^(.*) (\d+) [-+]\d+$/.exec(values("committer")[0] ?? "") ?? [];
  const message = end === -1 ? "" : decode(content.subarray(end + 2).subarray(0, PART_BYTES_MAX));
  return {
    id,
    tree,
    parents: values("parent"),
    seconds: Math.min(Number(seconds), SECONDS_MAX),
    author: nameOf(decode(Buffer.from(values("author")[0] ?? "", "latin1"))),
    subject: subjectOf(message),
  };
}

/** Returns a commit as a story tells it. */
export function describeCommit(commit: GitCommit): GitChange["commits"][number] {
  const { id, subject, author, seconds } = commit;
  return { id, subject, author, at: new Date(seconds * 1000).toISOString() };
}

function nameOf(person: string): string {
  const [, name = "", address = ""] = /^(.*?) ?<(.*?)>/.exec(person) ?? [];
  return name.trim() || address;
}

/** The first paragraph on one line, as git has it. */
function subjectOf(message: string): string {
  const [paragraph = ""] = message.replace(/^(?:[ \t\r]*\n)+/, "").split(/\r?\n[ \t\r]*\n/, 1);
  return paragraph
    .trimEnd()
    .replace(/\r?\n[ \t]*/g, " ")
    .slice(0, SUBJECT_CHARACTERS_MAX);
}

function decoderOf(encoding: string | undefined): (bytes: Buffer) => string {
  try {
    const decoder = new TextDecoder(encoding ?? "utf-8");
    return (bytes) => decoder.decode(bytes);
  } catch {
    return (bytes) => bytes.toString("utf8");
  }
}
