import type { ErrorCode } from "../../shared/errors/index.ts";
import { DUMP_FAILURE_PATTERNS } from "./dump-failure-patterns.ts";
import { RESTORE_FAILURE_PATTERNS } from "./restore-failure-patterns.ts";

/** A process of the tree that could not be dumped, as `/proc` shows it. */
export interface ProcessFacts {
  /** As CRIU and the daemon see it. */
  pid: number;
  /** As the session sees it. */
  innerPid: number;
  command: string;
  /** Process that traces it, 0 if none does. */
  tracerPid: number;
  /** Descriptor → what `/proc/PID/fd` says it leads to. */
  descriptors: ReadonlyMap<number, string>;
  /** Descriptors that are a path only (O_PATH), of a terminal, a socket or a pipe. */
  unusualPaths: readonly number[];
}

/** What is known besides the log. */
export interface FailureFacts {
  rootPid: number;
  processes: readonly ProcessFacts[];
  /** Inodes of unix sockets in the tree whose other end is not in it. */
  outsideSocketInodes: ReadonlySet<string>;
}

/** A failure of CRIU in our words. */
export interface FailureExplanation {
  code: ErrorCode;
  /** Stable word for programs. */
  reason: string;
  /** One sentence of facts. */
  message: string;
  hint: string;
  /** Whether the same dump may succeed a few milliseconds later. */
  transient: boolean;
  /** Process id inside the session, null if no process is to blame or it is not known. */
  pid: number | null;
  processName: string | null;
  resource: string | null;
}

/** Where a pattern found the process that is to blame. */
export interface Culprit {
  process: ProcessFacts;
  descriptor?: number;
}

/** One row of a failure table; rows are tried in order, the first that matches wins. */
export interface FailurePattern {
  reason: string;
  pattern: RegExp;
  /** @defaultValue the code of the operation */
  code?: ErrorCode;
  transient?: true;
  /** Further condition, for facts that the log line alone does not tell. */
  applies?: (match: RegExpExecArray, culprit: Culprit | undefined, facts: FailureFacts) => boolean;
  /** Finds the process where the log names none. */
  findCulprit?: (match: RegExpExecArray, facts: FailureFacts) => Culprit | undefined;
  /** What the process holds or does, for programs; null if it is no resource. */
  resource: (match: RegExpExecArray, culprit: Culprit | undefined) => string | null;
  /** The sentence; `who` is "Process 12 (node)". */
  sentence: (
    who: string,
    match: RegExpExecArray,
    culprit: Culprit | undefined,
    facts: FailureFacts,
  ) => string;
  hint: string;
}

const NO_FACTS: FailureFacts = { rootPid: 0, processes: [], outsideSocketInodes: new Set() };

/** Explains why `criu dump` failed, from its log and what `/proc` said right after. */
export function explainDumpFailure(log: string, facts: FailureFacts): FailureExplanation {
  const found = explain(log, facts, DUMP_FAILURE_PATTERNS, "CRIU_DUMP_FAILED");
  return found ?? unexplained(log, facts, "CRIU_DUMP_FAILED");
}

/** Explains why `criu restore` failed, from its log and the processes of the images. */
export function explainRestoreFailure(log: string, facts = NO_FACTS): FailureExplanation {
  const found = explain(log, facts, RESTORE_FAILURE_PATTERNS, "CRIU_RESTORE_FAILED");
  return found ?? unexplained(log, facts, "CRIU_RESTORE_FAILED");
}

function explain(
  log: string,
  facts: FailureFacts,
  patterns: readonly FailurePattern[],
  operationCode: ErrorCode,
): FailureExplanation | undefined {
  for (const row of patterns) {
    const match = row.pattern.exec(log);
    if (match === null) continue;
    const culprit = row.findCulprit?.(match, facts) ?? culpritOfLog(log, match, facts);
    if (row.applies !== undefined && !row.applies(match, culprit, facts)) continue;
    return {
      code: row.code ?? operationCode,
      reason: row.reason,
      message: row.sentence(nameOf(culprit), match, culprit, facts),
      hint: row.hint,
      transient: row.transient === true,
      pid: culprit?.process.innerPid ?? null,
      processName: culprit?.process.command ?? null,
      resource: row.resource(match, culprit),
    };
  }
  return undefined;
}

function culpritOfLog(
  log: string,
  match: RegExpExecArray,
  facts: FailureFacts,
): Culprit | undefined {
  const named = match.groups?.["pid"] ?? match.groups?.["other"];
  const process = named === undefined ? blamedOf(log, facts) : processOf(named, facts);
  if (process === undefined) return undefined;
  const descriptor = match.groups?.["fd"];
  return descriptor === undefined ? { process } : { process, descriptor: Number(descriptor) };
}

/** The process that CRIU was at, by the line that ends a dump or begins a failed restore. */
function blamedOf(log: string, facts: FailureFacts): ProcessFacts | undefined {
  const outer = /Error.*\(pid: (\d+)\)|Error.*SEIZE (\d+)/.exec(log);
  if (outer !== null) return processOf(outer[1] ?? outer[2] ?? "", facts);
  // CRIU's code inside a process, and a process that is being restored, are named by their own number.
  const inner = /^(?:\([\d.]+\) )?(?:pie:)? *(\d+): Error/m.exec(log)?.[1];
  return facts.processes.find(({ innerPid }) => innerPid === Number(inner));
}

function processOf(named: string, facts: FailureFacts): ProcessFacts | undefined {
  return facts.processes.find(({ pid }) => pid === Number(named));
}

function nameOf(culprit: Culprit | undefined): string {
  if (culprit === undefined) return "A process of the session";
  return `Process ${culprit.process.innerPid} (${culprit.process.command})`;
}

/** What no row knows: the process is named, CRIU's words are for those who read logs. */
function unexplained(log: string, facts: FailureFacts, code: ErrorCode): FailureExplanation {
  const process = blamedOf(log, facts);
  const who = nameOf(process && { process });
  return {
    code,
    reason: "unknown",
    message:
      code === "CRIU_DUMP_FAILED"
        ? `${who} is, has or does something that CRIU does not capture.`
        : `${who} could not be brought back by CRIU.`,
    hint: "CRIU's own words are in detail.criuErrors, the whole log is at detail.logPath.",
    transient: false,
    pid: process?.innerPid ?? null,
    processName: process?.command ?? null,
    resource: null,
  };
}
