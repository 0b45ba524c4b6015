// A SQLite database file, asked through one sqlite3 process that stays open.
// Node 20 has no SQLite of its own, and the command line needs no compiling.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";

const END_OF_ANSWER = "--end-of-answer--";

/** Opens the database at `path`; `query` resolves to the rows, one query at a time. */
export function openDatabase(path) {
  const sqlite = spawn("sqlite3", ["-batch", "-json", path], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  sqlite.on("error", (error) => exitWith(`sqlite3 did not start: ${error.message}`));
  sqlite.on("exit", (code, signal) => exitWith(`sqlite3 ended (${signal ?? code})`));
  sqlite.stdin.write(".timeout 2000\n");

  const waiting = [];
  let lines = [];
  createInterface({ input: sqlite.stdout }).on("line", (line) => {
    if (line !== END_OF_ANSWER) return lines.push(line);
    const answer = lines.join("\n");
    lines = [];
    waiting.shift()(answer === "" ? [] : JSON.parse(answer));
  });

  return {
    query: (sql) =>
      new Promise((resolve) => {
        waiting.push(resolve);
        sqlite.stdin.write(`${sql};\n.print ${END_OF_ANSWER}\n`);
      }),
  };
}

/** Returns `text` as a SQL literal on one line. */
export function sqlText(text) {
  return `'${text.replaceAll("'", "''").replaceAll(/[\r\n\0]/g, " ")}'`;
}

function exitWith(message) {
  console.error(`shop: ${message}`);
  process.exit(1);
}
