import { destinationsOf, methodOf } from "./http-request.ts";
import type { ApprovalPolicy } from "./policy.ts";
import { readLine, type Word } from "./read-line.ts";
import { remoteWork } from "./remote-work.ts";

/** Why a line is held. */
export interface HeldStep {
  /** "git push", "POST by curl", "to api.example.com". */
  rule: string;
}

/** Longer ones are not read: they are held. */
const LINE_CHARACTERS_MAX = 256 * 1024;
const DEPTH_MAX = 8;

/** Words before a command that belong to the shell. */
const KEYWORDS = new Set(
  "if then else elif do while until ! { time begin and or not coproc function case".split(" "),
);
/** Programs that run what follows; whatever their options are, each later word may be the program. */
const WRAPPERS = new Set(
  (
    "env sudo doas nohup timeout nice ionice stdbuf xargs command builtin exec setsid strace ltrace watch " +
    "parallel ssh chroot su runuser flock find time unbuffer script busybox npx entr"
  ).split(" "),
);
/** Programs that run another one behind a word or two of their own: `uv run`, `docker exec -it box`. */
const RUNNERS = new Set("uv uvx poetry pipx bundle pdm pnpx bunx mise direnv".split(" "));
/** Programs of which an argument is a line of shell. */
const SHELLS = new Set(
  "sh bash dash zsh ksh ash fish eval su runuser ssh watch env script alias".split(" "),
);
/** Programs that run another language, which is not read. */
const INTERPRETERS = /^(?:python[\d.]*|node|nodejs|bun|deno|perl|ruby|php|awk|gawk|lua|osascript)$/;

/**
 * Returns why a line of shell is to be approved by a person, or `null`.
 *
 * A gate against accidents: scripts, aliases and functions that a line only names are not looked into.
 */
export function findHeldStep(line: string, policy: ApprovalPolicy): HeldStep | null {
  if (line.length > LINE_CHARACTERS_MAX) return { rule: "a line too long to be read" };
  return findInLine(line, policy, 0);
}

function findInLine(line: string, policy: ApprovalPolicy, depth: number): HeldStep | null {
  if (depth > DEPTH_MAX) return { rule: "a line too deep to be read" };
  const { commands, isUnreadable } = readLine(line);
  for (const words of commands) {
    const found = findInCommand(withoutPrefix(words), { line, policy, depth });
    if (found !== null) return found;
  }
  return isUnreadable ? findMention(line, policy) : null;
}

interface Place {
  line: string;
  policy: ApprovalPolicy;
  depth: number;
}

function findInCommand(words: readonly Word[], place: Place): HeldStep | null {
  const [first, ...rest] = words;
  if (first === undefined) return null;
  const { policy, depth } = place;
  const program = programOf(first);
  const found =
    matchCommand(words, place) ??
    matchRequest(program, rest, policy) ??
    matchAlias(program, rest, place);
  if (found !== null) return found;
  if (WRAPPERS.has(program) || RUNNERS.has(program)) {
    for (let at = 1; at < words.length; at += 1) {
      const isProgram = isProgramPlace(words, at);
      const inner =
        matchCommand(words.slice(at), place, isProgram ? 1 : 2) ??
        (isProgram ? matchWrapped(words.slice(at), place) : null);
      if (inner !== null) return inner;
    }
  }
  if (SHELLS.has(program)) {
    const lines = [...rest.map(({ text }) => text), rest.map(({ text }) => text).join(" ")];
    for (const text of lines.map((each) => (program === "alias" ? afterName(each) : each))) {
      const inner = findInLine(text, policy, depth + 1);
      if (inner !== null) return inner;
    }
  }
  const isCode = INTERPRETERS.test(program);
  return isCode ? findMention(rest.map(({ text }) => text).join("\n"), policy) : null;
}

/**
 * Tells whether a word behind a wrapper may be the program: before it stand options, their values,
 * assignments, numbers. `find` names one behind -exec alone.
 */
function isProgramPlace(words: readonly Word[], at: number): boolean {
  const [wrapper, ...before] = words.slice(0, at);
  const isExec = (word: Word | undefined) => /^-(?:exec|execdir|ok|okdir)$/.test(word?.text ?? "");
  if (wrapper !== undefined && programOf(wrapper) === "find") return isExec(before.at(-1));
  if (wrapper !== undefined && RUNNERS.has(programOf(wrapper))) return before.length <= 2;
  return before.every((word, index) => {
    const previous = before[index - 1];
    const isValue = previous !== undefined && isOption(previous);
    return (
      isOption(word) ||
      isValue ||
      /^\d[\d.]*[smhd]?$|^\w+=/.test(word.text) ||
      WRAPPERS.has(programOf(word))
    );
  });
}

/** An alias of git that stands in the line itself: `git -c alias.p=push p`. */
function matchAlias(program: string, words: readonly Word[], place: Place): HeldStep | null {
  if (program !== "git") return null;
  for (const { text } of words) {
    const alias = /^alias\.[^=\s]+=(!?)([\s\S]*)$/.exec(text);
    if (alias === null) continue;
    const line = alias[1] === "!" ? (alias[2] ?? "") : `git ${alias[2]}`;
    const found = findInLine(line, place.policy, place.depth + 1);
    if (found !== null) return found;
  }
  return null;
}

/** A program behind a wrapper that itself runs or asks something. */
function matchWrapped(words: readonly Word[], place: Place): HeldStep | null {
  const [first, ...rest] = words;
  if (first === undefined) return null;
  const program = programOf(first);
  const isRunner = SHELLS.has(program) || INTERPRETERS.test(program);
  return isRunner
    ? findInCommand(words, { ...place, depth: place.depth + 1 })
    : matchRequest(program, rest, place.policy);
}

function matchCommand(
  words: readonly Word[],
  { line, policy }: Place,
  wordsMin = 1,
): HeldStep | null {
  const [first, ...rest] = words;
  if (first === undefined) return null;
  for (const rule of policy.commands) {
    if (rule.length < wordsMin) continue;
    const [program = "", ...more] = rule;
    const isProgram = first.isDynamic
      ? more.length > 0 || mentions(line, rule)
      : programOf(first) === program;
    // What a variable holds is not known: `$TOOL push` is held, `$TOOL $ARGS` where the line names both.
    const isSure = !first.isDynamic || rest.some(({ isDynamic }) => !isDynamic);
    if (isProgram && isSure && followsRule(rest, more, first.isDynamic)) {
      return { rule: rule.join(" ") };
    }
    if (first.isDynamic && mentions(line, rule)) return { rule: rule.join(" ") };
  }
  return null;
}

/** Tells whether the words of a rule follow in order; between them are options and their values. */
function followsRule(words: readonly Word[], rule: readonly string[], isExact: boolean): boolean {
  let at = 0;
  for (const wanted of rule) {
    for (;;) {
      const word = words[at];
      if (word === undefined) return false;
      at += 1;
      if (word.text === wanted) break;
      if (word.isDynamic && word.text === "" && !isExact) break;
      const before = words[at - 2];
      const isValue = before !== undefined && isOption(before) && !before.text.includes("=");
      if (!isOption(word) && !isValue) return false;
    }
  }
  return true;
}

function isOption({ text }: Word): boolean {
  return text.startsWith("-") || text.startsWith("+");
}

function matchRequest(
  program: string,
  words: readonly Word[],
  { methods, destinations, remoteWork: isRemoteHeld }: ApprovalPolicy,
): HeldStep | null {
  const texts = words.map(({ text }) => text);
  const remote = isRemoteHeld ? remoteWork(program, texts) : null;
  if (remote !== null) return { rule: remote };
  const method = methodOf(program, texts);
  if (method !== null && methods.includes(method)) return { rule: `${method} by ${program}` };
  const hosts = texts.flatMap(destinationsOf);
  const wanted = destinations.find((glob) => hosts.some((host) => matchesGlob(host, glob)));
  return wanted === undefined ? null : { rule: `to ${wanted}` };
}

function matchesGlob(host: string, glob: string): boolean {
  const pattern = glob.split("*").map((part) => part.replaceAll(/[.:-]/g, "\\$&"));
  return new RegExp(`^${pattern.join(".*")}$`, "i").test(host);
}

/** Finds a rule's words one after the other in what is not read as commands. */
function findMention(text: string, policy: ApprovalPolicy): HeldStep | null {
  const rule = policy.commands.find((words) => mentions(text, words));
  if (rule !== undefined) return { rule: rule.join(" ") };
  const hosts = text.split(/[\s"'`,;()<>[\]{}]+/).flatMap(destinationsOf);
  const wanted = policy.destinations.find((glob) => hosts.some((host) => matchesGlob(host, glob)));
  return wanted === undefined ? null : { rule: `to ${wanted}` };
}

function mentions(text: string, words: readonly string[]): boolean {
  const parts = words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`(?<![\\w-])${parts.join("\\W+(?:-\\S+\\W+)*")}(?![\\w-])`).test(text);
}

/** Leaves out the shell's own words and assignments before a command. */
function withoutPrefix(words: readonly Word[]): readonly Word[] {
  const start = words.findIndex(
    ({ text }) => !KEYWORDS.has(text) && !/^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/.test(text),
  );
  return start < 0 ? [] : words.slice(start);
}

function programOf({ text }: Word): string {
  return text.slice(text.lastIndexOf("/") + 1);
}

function afterName(text: string): string {
  return text.slice(text.indexOf("=") + 1);
}
