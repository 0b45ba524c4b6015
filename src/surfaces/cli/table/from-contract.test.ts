import { readdirSync, readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { DESCRIBED } from "../../../shared/protocol/index.ts";
import type { CommandSpec } from "../command-spec.ts";
import { COMMAND_TABLE } from "../command-table.ts";
import { argument, commandOf, option } from "./from-contract.ts";

/** Fields that nobody types, each with what gives it. */
const NOT_TYPED: Readonly<Record<string, string>> = {
  "new.cwdIfThere": "the directory that one stands in",
  "new.columns": "the size of this terminal",
  "new.rows": "the size of this terminal",
  "attach.columns": "the size of this terminal",
  "attach.rows": "the size of this terminal",
  "exec.columns": "the size of this terminal",
  "exec.rows": "the size of this terminal",
  "apply.undo.operation": "value of --undo",
  "attach.command": "the command of `run`",
  "attach.approval": "the step that it waited for when the daemon was lost",
  "exec.approval": "the step that it waited for when the daemon was lost",
  "exec.keepOutputBytes": "the output is printed as it comes",
  "diff.patch": "it is given unless --stat or --name-only is",
  "grep.in": "--outputs, --files or neither",
  "auto.paused": "pause or resume in place of a policy",
  "forward.stop.port": "PORT or PORT:PORT, one argument",
  "forward.port": "PORT or PORT:PORT, one argument",
  "forward.hostPort": "PORT or PORT:PORT, one argument",
  "base.changes.path": "diff PATH --base-changes gives it",
  "base.changes.waitMs": "--base-changes waits, a person for a moment",
  "cp.to": "the last one of its paths",
  "verify.command": "what follows --",
  "verify.set.command": "what follows --",
  "verify.forget.command": "what follows --",
  "rm.session": "a name",
  "rm.files.session": "a name",
  "rm.checkpoints.checkpoints": "a name",
  "stop.session": "one name after the other",
  "state.set.session": "MOMENT, which is a session then",
};

const ALL: readonly CommandSpec[] = COMMAND_TABLE.flatMap((spec) => [
  spec,
  ...(spec.subcommands ?? []),
]);

test("a limit of the contract is one of the command line", () => {
  const count = option("fork", "count", { short: "n" });

  expect(count).toMatchObject({ flags: "-n, --count <count>" });
  expect(count.description).toBe("How many (at most 256) [1]");
  expect(count.parse?.("256", undefined as never)).toBe(256);
  expect(() => count.parse?.("257", undefined as never)).toThrow("from 1 to 256");
  expect(() => option("checkpoint", "intent").parse?.("x".repeat(10_001), "" as never)).toThrow(
    "at most 10000 characters",
  );
});

test("a field's unit is what its value is called", () => {
  expect(option("new", "memoryBytes")).toMatchObject({ flags: "--memory <size>" });
  expect(option("verify", "timeoutMs").flags).toBe("--timeout <seconds>");
  expect(option("verify", "timeoutMs").description).toMatch(/\(at most 86400\) \[600\]$/);
  expect(option("verify", "timeoutMs").parse?.("2", undefined as never)).toBe(2000);
  expect(option("new", "pids").parse?.("unlimited", undefined as never)).toBeNull();
});

test("a flag that is on is turned off by its own words, and choices are the contract's", () => {
  expect(option("stop", "checkpoint")).toMatchObject({
    ...{ flags: "--no-checkpoint", description: "Do not checkpoint it first" },
  });
  expect(option("new", "net").choices).toEqual(["nat", "none", "host"]);
});

test("a command has the errors of all operations that it asks for, each once", () => {
  const rm = commandOf("rm", {
    also: ["rm.checkpoints"],
    load: async () => ({ run: async () => 0 }),
  });

  expect(rm.errors?.filter((code) => code === "REFERENCE_AMBIGUOUS")).toHaveLength(1);
  expect(rm.errors).toContain("CHECKPOINT_IN_USE");
  expect(argument("ps", "session", "<session>").description).toBe(
    DESCRIBED.ps.fields.session.words,
  );
});

test("every field of an operation can be typed, or something gives it", () => {
  const missing = ALL.flatMap(({ operations = [], options, arguments: args }) => {
    const fields = [...(options?.() ?? []), ...(args?.() ?? [])].map(({ field }) => field);
    const typed = new Set(fields.map((field) => field?.replace(/^.*\./, "")));
    return operations.flatMap((name) =>
      Object.keys(DESCRIBED[name].fields)
        .filter((field) => !typed.has(field))
        .map((field) => `${name}.${field}`),
    );
  });

  expect([...new Set(missing)].toSorted()).toEqual(Object.keys(NOT_TYPED).toSorted());
});

test("no sentence of the contract is longer than twenty words", () => {
  const told = Object.values(DESCRIBED).flatMap((operation) => [
    operation.summary,
    ...("description" in operation ? [operation.description] : []),
    ...Object.values(operation.fields).map(({ words }) => words),
  ]);
  const sentences = told.flatMap((text) => text.split(/(?<=[.;:]) /));

  expect(sentences.filter((sentence) => sentence.split(" ").length > 20)).toEqual([]);
});

/** What a program does around work of its own; a person has nothing to type there. */
const OF_PROGRAMS = ["effect.begin", "effect.end", "effect.compensate"];

test("every operation is one of a command", () => {
  const asked = new Set(ALL.flatMap(({ operations = [] }) => operations));

  const unasked = Object.keys(DESCRIBED).filter((name) => !asked.has(name as "new"));
  expect(unasked).toEqual(OF_PROGRAMS);
});

test("what the contract says is not typed again", () => {
  const folder = new URL(".", import.meta.url);
  const said = new Set<string>(
    Object.values(DESCRIBED).flatMap((told) => [
      told.summary,
      ...sentencesOf("description" in told ? told.description : ""),
      ...Object.values(told.fields).map(({ words }: { words: string }) => words),
    ]),
  );
  const literals = readdirSync(folder)
    .filter((file) => file.endsWith("-commands.ts") || file === "references.ts")
    .flatMap((file) => literalsOf(readFileSync(new URL(file, folder), "utf8")));

  expect(literals.filter((text) => said.has(text))).toEqual([]);
});

test("an option with words of its own has the name of no field", () => {
  const own = ALL.flatMap(({ name, operations = [], options = () => [] }) => {
    const fields = operations.flatMap((each) => Object.keys(DESCRIBED[each].fields));
    const names = new Set(fields.map((field) => field.replace(/(Bytes|Ms)$/, "").toLowerCase()));
    return options()
      .filter(({ field, asks }) => field === undefined && asks === undefined)
      .map(({ flags }) => /--(?:no-)?([\w-]+)/.exec(flags)?.[1] ?? "")
      .filter((flag) => names.has(flag.replaceAll("-", "")))
      .map((flag) => `${name} --${flag}`);
  });

  expect(own).toEqual([]);
});

/** Strings that are joined over several lines are one. */
function literalsOf(source: string): string[] {
  const joined = source.replace(/" \+\s*"/g, "");
  return [...joined.matchAll(/"((?:[^"\\\n]|\\.)*)"/g)].flatMap(([, text = ""]) => [
    text,
    ...sentencesOf(text),
  ]);
}

function sentencesOf(text: string): string[] {
  return text.split(/(?<=\.) /).filter((sentence) => sentence.length > 20);
}
