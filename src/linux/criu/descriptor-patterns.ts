import { descriptorOf, holderOf, targetOf } from "./describe-culprit.ts";
import type { Culprit, FailureFacts, FailurePattern } from "./explain-failure.ts";
import { refused } from "./refused-rows.ts";

const CONTROLLING_TERMINAL = "/dev/tty";

/** Open files that CRIU refuses; rows of the table of failed dumps. */
export const DESCRIPTOR_PATTERNS: readonly FailurePattern[] = [
  {
    reason: "path_only",
    // CRIU asks for what such a descriptor does not tell; of other kinds of files it knows better.
    pattern:
      /tty: Can't fetch params: err = -9|Can't obtain piped data size|Can't get \d+:\d+ opt: Bad file descriptor/,
    findCulprit: pathOnlyOf,
    applies: (_match, culprit) => culprit?.descriptor !== undefined,
    resource: (match, culprit) => `${targetOf(match, culprit)}${descriptorOf(culprit)}`,
    sentence: (who, match, culprit) =>
      `${who} has ${targetOf(match, culprit)} open as a path only (O_PATH)${descriptorOf(culprit)}, which cannot be checkpointed.`,
    hint: "Let the program close it, or end it.",
  },
  {
    reason: "controlling_terminal",
    transient: true,
    pattern: /ctty inheritance detected/,
    findCulprit: (_match, facts) => holderOf(facts, CONTROLLING_TERMINAL),
    resource: () => CONTROLLING_TERMINAL,
    sentence: (who, _match, culprit) =>
      `${who} has /dev/tty open${descriptorOf(culprit)}, whose terminal is not one of the session.`,
    hint: "Programs of a session must run in its own terminals; end this one and start it there.",
  },
  refused({
    reason: "escaped_watch",
    pattern: /Dump eventpoll \(pid: (?<pid>\d+)\) failed/,
    resource: "epoll",
    what: "has an epoll that watches a file which it has closed and another process has open",
  }),
  {
    reason: "long_path",
    pattern: /Can't read link for pid (?<pid>\d+) fd (?<fd>-?\d+)/,
    applies: (match) => match.input.includes("File name too long"),
    resource: (_match, culprit) => `file with a long path${descriptorOf(culprit)}`,
    sentence: (who, _match, culprit) =>
      `${who} has a file open${descriptorOf(culprit)} whose path is longer than 4095 bytes, which cannot be checkpointed.`,
    hint: "Let the program close it, or move the file higher up.",
  },
  refused({
    reason: "removed_file",
    pattern:
      /Can't link remap to (?<path>.+): (?:Operation not permitted|Invalid cross-device link)/,
    resource: "removed $path",
    what: "has $path open or stands in it, which was removed and is of the base",
    hint: "Let the program leave or close it (`cd /`), then try again.",
  }),
  refused({
    reason: "covered_file",
    pattern:
      /Open files on overmounted mounts[^\n]*path=(?<path>\S+)|Unaccessible path opened|The path \[(?<name>[^\]]*)\] is not supported/,
    resource: "file $path$name",
    what: "has a file open that no path leads to any more ($path$name)",
  }),
  refused({
    reason: "many_terminals",
    pattern: /Index (?<index>\d+) on (?:ptmx|pts) is too big/,
    resource: "terminal /dev/pts/$index",
    what: "has the terminal /dev/pts/$index open, of which numbers above 1000 do not fit",
    hint: "Close terminals that are not needed.",
  }),
  refused({
    reason: "unknown_terminal",
    pattern: /Unable to find a tty driver/,
    resource: "terminal",
    what: "has a terminal open that is no terminal of the session",
  }),
];

/** The process whose files CRIU was at, and what it has open as a path only. */
function pathOnlyOf(match: RegExpExecArray, { processes }: FailureFacts): Culprit | undefined {
  const blamed = /Dump files \(pid: (\d+)\)/.exec(match.input)?.[1];
  const process = processes.find(({ pid }) => pid === Number(blamed));
  const descriptor = process?.unusualPaths[0];
  return process && { process, ...(descriptor === undefined ? {} : { descriptor }) };
}
