import {
  ERROR_REGISTRY,
  type ErrorKind,
  type ErrorRow,
  EXIT_CODE_OWN_FAILURE,
  EXIT_CODE_UNKNOWN_ERROR,
} from "../../src/shared/errors/index.ts";
import {
  EXIT_CODE_CONFLICTS,
  EXIT_CODE_NOT_PASSED,
  EXIT_CODE_NOT_VERIFIED,
} from "../../src/surfaces/cli/command-spec.ts";
import { code, GENERATED_NOTE, table } from "./markdown.ts";

const WHO_ACTS: Record<ErrorKind, string> = {
  usage: "the caller: the request itself is wrong",
  state: "the caller, after looking at what is there",
  host: "the administrator of the machine",
  tool: "whoever reads the log that the error names",
  data: "stop, and look at the store before going on",
  cancelled: "nobody: the caller asked for it",
  internal: "us: it is a defect of Waypoint",
};

/** Exit codes of commands that did what they were asked for. */
const ANSWERS = [
  ["1", code("diff"), "something differs"],
  ["1", code("grep"), "nothing was found"],
  ["1", `${code("merge")}, ${code("apply --dry-run")}`, "there are conflicts"],
  [
    String(EXIT_CODE_NOT_PASSED),
    `${code("verify")}, ${code("checkpoint --verify")}`,
    "the command failed or took too long",
  ],
  [String(EXIT_CODE_CONFLICTS), code("revert"), "done, but for what was changed again since"],
  [
    String(EXIT_CODE_NOT_VERIFIED),
    `${code("verify")}, ${code("checkpoint --verify")}`,
    "a command could not be run against a checkpoint",
  ],
  [String(EXIT_CODE_NOT_VERIFIED), code("bisect"), "any of several, which could not be tested"],
];

/** Returns docs/errors.md from the registry of error codes. */
export function renderErrors(): string {
  const rows = Object.entries<ErrorRow>(ERROR_REGISTRY);
  return `${GENERATED_NOTE}

# Errors

Every failure has a code. A code is public: it never changes its meaning and is never reused. With
\`--json\` an error is one line on standard error:
\`{"error": {"code", "message", "hint", "detail"}}\`. The message is one sentence of facts, the hint
says what to do next or is null, and the detail holds facts for programs.

A command that fails exits with the exit code of its error, in the table below; a code that the client
does not know (the daemon is newer) with ${EXIT_CODE_UNKNOWN_ERROR}. \`exec\` and \`run\` exit with the
exit code of the command that they ran, 124 when its time was up, and ${EXIT_CODE_OWN_FAILURE} when they
themselves failed; \`grep\` exits with 2 after any failure.

These exit codes are answers, not failures; \`--help\` lists those of each command.

${table(["Exit", "Command", "Answer"], ANSWERS)}

## Kinds

The kind says who has to act.

${table(
  ["Kind", "Who acts"],
  Object.entries(WHO_ACTS).map(([kind, who]) => [kind, who]),
)}

## Codes

"Retry" means that the same request may succeed later without anyone changing anything.

${table(
  ["Code", "Kind", "Exit", "HTTP", "Retry", "Meaning"],
  rows.map(([name, row]) => [
    code(name),
    row.kind,
    String(row.exitCode),
    String(row.httpStatus),
    row.retryable ? "yes" : "no",
    row.meaning,
  ]),
)}
`;
}
