const MESSAGE_LINES_MAX = 16;
const LINE_CHARS_MAX = 300;
const OUTPUT_END_CHARS = 6_000;

/**
 * What failed in a run of vitest, as text: each failed test with the start of its message, files
 * that could not be loaded, then errors outside of any test. Without any of these, the end of the
 * output.
 *
 * @param {object | undefined} report vitest's JSON report; undefined when there is none
 * @param {string} output what vitest printed
 * @returns {string} lines, each ended
 */
export function failuresOf(report, output) {
  const told = [...failedTests(report), ...errorsOutsideTests(output)];
  return told.length > 0 ? told.join("") : `${output.slice(-OUTPUT_END_CHARS).trimEnd()}\n`;
}

function failedTests(report) {
  const told = [];
  for (const file of report?.testResults ?? []) {
    const failed = file.assertionResults.filter(({ status }) => status === "failed");
    for (const test of failed)
      told.push(entry(`${shortName(file.name)} > ${test.fullName}`, test.failureMessages));
    if (failed.length === 0 && file.status === "failed")
      told.push(entry(shortName(file.name), [file.message ?? ""]));
  }
  return told;
}

function errorsOutsideTests(output) {
  const start = output.search(/^.*Unhandled (Errors?|Rejections?)/m);
  return start === -1 ? [] : [entry("outside of any test", [output.slice(start)])];
}

function entry(name, messages) {
  const lines = messages.join("\n").split("\n").slice(0, MESSAGE_LINES_MAX);
  const body = lines.map((line) => `         ${line.slice(0, LINE_CHARS_MAX)}\n`);
  return `     x ${name}\n${body.join("")}`;
}

/** Returns the path of a file from the root. */
export function shortName(path) {
  return path.replace(/^.*\/(?=(test|src|bench)\/)/, "");
}
