import { ERROR_REGISTRY, type ErrorKind, type ErrorRow } from "../../src/shared/errors/index.ts";
import { code, GENERATED_NOTE, table } from "./markdown.ts";
import { renderAllExitCodes } from "./render-exit-codes.ts";

const WHO_ACTS: Record<ErrorKind, string> = {
  usage: "the caller: the request itself is wrong",
  state: "the caller, after looking at what is there",
  host: "the administrator of the machine",
  tool: "whoever reads the log that the error names",
  data: "stop, and look at the store before going on",
  cancelled: "nobody: the caller asked for it",
  internal: "us: it is a defect of Waypoint",
};

/** Returns docs/errors.md from the registry of error codes. */
export function renderErrors(): string {
  const rows = Object.entries<ErrorRow>(ERROR_REGISTRY);
  return `${GENERATED_NOTE}

# Errors

Every failure has a code. A code is public: it never changes its meaning and is never reused. With
\`--json\` an error is one line on standard error:
\`{"error": {"code", "message", "hint", "detail"}}\`. The message is one sentence of facts, the hint
says what to do next or is null, and the detail holds facts for programs.

## Exit codes

0 is done; what a command exits with otherwise is its answer, or the exit code of its error. \`exec\` and
\`run\` have 125 for all errors but two, \`grep\` 2 for all but one, because their other exit codes are
those of the command and of grep(1). \`waypoint COMMAND --help\` lists those of one command.

${renderAllExitCodes()}

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
