import {
  ERROR_REGISTRY,
  type ErrorCode,
  EXIT_CODE_OWN_FAILURE,
  EXIT_CODE_UNKNOWN_ERROR,
} from "../../shared/errors/index.ts";
import type { CommandSpec } from "./command-spec.ts";

/** Two moments differ, as diff(1) has it. */
export const EXIT_CODE_DIFFERENT = 1;
/** Nothing was found, as grep(1) has it. */
export const EXIT_CODE_NOTHING_FOUND = 1;
/** Something could not be searched, or the search failed, as grep(1) has it. */
export const EXIT_CODE_NOT_SEARCHED = 2;
/** There are conflicts, as git's merge has it. */
export const EXIT_CODE_CONFLICTS = 1;
/** A command that was run against a checkpoint failed or took too long. */
export const EXIT_CODE_NOT_PASSED = 3;
/** Something was left as it is because it had been changed again. */
export const EXIT_CODE_LEFT_CHANGED = 3;
/** A command could not be run against a checkpoint. */
export const EXIT_CODE_NOT_VERIFIED = 4;
/** The first bad checkpoint is any of several. */
export const EXIT_CODE_UNDECIDED = 4;
/** The time of `exec --timeout` was up. */
export const EXIT_CODE_TIMED_OUT = 124;
/** Nobody reads the output any more, as a shell reports SIGPIPE. */
export const EXIT_CODE_OUTPUT_CLOSED = 141;

/** What an exit code means. */
export interface ExitCodeMeaning {
  /** `null` is that of a program in the session, whatever it is. */
  exitCode: number | null;
  meaning: string;
}

/** Errors that every command may end with. */
const ERRORS_OF_ALL: readonly ErrorCode[] = [
  "USAGE_INVALID",
  "DAEMON_UNREACHABLE",
  "INTERNAL",
  // Ctrl-C, SIGTERM and SIGHUP.
  "CANCELLED",
];

/** What `exec` and `run` exit with besides. */
const PASSED_ON: readonly ExitCodeMeaning[] = [
  { exitCode: null, meaning: "that of the command" },
  { exitCode: EXIT_CODE_OWN_FAILURE, meaning: "Waypoint itself failed; the message says how" },
];

/** Returns every exit code of a command, in order. */
export function exitCodesOf(spec: CommandSpec): ExitCodeMeaning[] {
  const answers = answersOf(spec);
  const isZeroTold = answers.some(({ exitCode }) => exitCode === 0 || exitCode === null);
  const done = isZeroTold ? [] : [{ exitCode: 0, meaning: "done" }];
  return inOrder([...done, ...answers, ...errorsByExitCode(errorsOf(spec))]);
}

/** Returns the exit codes of a command that are not those of an error, nor 0 for all is done. */
export function answersOf({ answers = [], passesExitCode }: CommandSpec): ExitCodeMeaning[] {
  return [...(passesExitCode ? PASSED_ON : []), ...answers];
}

/** Returns the exit codes that are not those of one command. */
export function exitCodesOfAll(): ExitCodeMeaning[] {
  return [
    { exitCode: 0, meaning: "done" },
    { exitCode: EXIT_CODE_UNKNOWN_ERROR, meaning: "an error that only a newer daemon knows" },
    ...errorsByExitCode(Object.keys(ERROR_REGISTRY) as ErrorCode[]),
    { exitCode: EXIT_CODE_OUTPUT_CLOSED, meaning: "nobody reads its output any more" },
  ];
}

/** Returns these in the order of their codes, what a program exits with last. */
export function inOrder<T extends ExitCodeMeaning>(rows: readonly T[]): T[] {
  const last = Number.POSITIVE_INFINITY;
  return rows.toSorted((a, b) => (a.exitCode ?? last) - (b.exitCode ?? last));
}

function errorsOf({ errors = [], passesExitCode, searches }: CommandSpec): readonly ErrorCode[] {
  // All their other errors have one exit code, which their answers tell.
  if (searches) return ["CANCELLED"];
  return passesExitCode ? ["USAGE_INVALID", "CANCELLED"] : [...ERRORS_OF_ALL, ...errors];
}

function errorsByExitCode(codes: readonly ErrorCode[]): ExitCodeMeaning[] {
  const byExitCode = Map.groupBy(new Set(codes), (code) => ERROR_REGISTRY[code].exitCode);
  return [...byExitCode].map(([exitCode, names]) => ({ exitCode, meaning: names.join(", ") }));
}
