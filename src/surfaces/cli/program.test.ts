import { readFileSync } from "node:fs";
import { CommanderError } from "commander";
import { expect, test } from "vitest";
import { ERROR_REGISTRY, WaypointError } from "../../shared/errors/index.ts";
import { COMMAND_TABLE } from "./command-table.ts";
import { exitCodesOf } from "./exit-codes.ts";
import { buildProgram, helpTail, type ParsedCommand } from "./program.ts";
import { exitCodeOf, renderError } from "./render-error.ts";
import { plain } from "./text/style.ts";

async function parse(line: readonly string[]): Promise<ParsedCommand & { command: string }> {
  let parsed: (ParsedCommand & { command: string }) | undefined;
  const program = buildProgram({
    handle: async (spec, values) => {
      parsed = { command: spec.name, ...values };
    },
  });
  await program.parseAsync([...line], { from: "user" });
  if (parsed === undefined) throw new Error("no command was called");
  return parsed;
}

test("what stands after -- belongs to the command in the session", async () => {
  const parsed = await parse(["exec", "web", "--tty", "--", "ls", "-la", "--json", "--", "x"]);

  expect(parsed.args).toEqual(["web"]);
  expect(parsed.rest).toEqual(["ls", "-la", "--json", "--", "x"]);
  expect(parsed.options).toEqual({ tty: true });
  expect(parsed.globals.json).toBeUndefined();
});

test("global options are understood before and after the command", async () => {
  const before = await parse(["--json", "--dir", "/tmp/a", "ls"]);
  const after = await parse(["ls", "--dir", "/tmp/a", "--json"]);

  expect(before.globals).toMatchObject({ json: true, dir: "/tmp/a" });
  expect(after.globals).toEqual(before.globals);
});

test("values are turned into what the contract wants", async () => {
  const exec = await parse(["exec", "web", "--timeout", "1.5", "true"]);
  const fork = await parse(["fork", "web@", "-n", "8"]);
  const made = await parse(["new", "-e", "A=1", "--env", "B=x=y", "--net", "none"]);
  const stopped = await parse(["stop", "web", "--no-checkpoint"]);

  expect(exec.options).toEqual({ timeout: 1500 });
  expect(fork.options).toEqual({ count: 8 });
  expect(made.options).toEqual({ env: { A: "1", B: "x=y" }, net: "none" });
  expect(stopped.options).toEqual({ checkpoint: false });
});

test("a session may have more processes than a fork has copies", async () => {
  const made = await parse(["new", "--pids", "4000"]);

  expect(made.options).toEqual({ pids: 4000 });
  await expect(parse(["fork", "web@", "-n", "257"])).rejects.toThrow("from 1 to 256");
  await expect(parse(["new", "--pids", "4194305"])).rejects.toThrow("from 1 to 4194304");
});

test.for([
  [["nonsense", "--help"], "nonsense"],
  [["nonsense", "-h"], "nonsense"],
  [["daemon", "nonsense", "--help"], "daemon nonsense"],
])("help of the unknown command %s is refused", async ([line, command]) => {
  const asked = parse(line as string[]);

  await expect(asked).rejects.toMatchObject({ code: "USAGE_INVALID", detail: { command } });
});

test("the daemon has subcommands and an action of its own", async () => {
  expect((await parse(["daemon"])).command).toBe("daemon");
  expect((await parse(["daemon", "status"])).command).toBe("status");
  expect(await parse(["daemon", "stop", "--sessions"])).toMatchObject({
    command: "stop",
    options: { sessions: true },
  });
});

test.for([
  ["an unknown option", ["ls", "--bogus"]],
  ["an option of the command without --", ["exec", "web", "ls", "-la"]],
  ["an unknown command", ["lss"]],
  ["a missing argument", ["revert", "web"]],
  ["too many arguments", ["ps", "a", "b"]],
  ["a count of nothing", ["fork", "x", "-n", "0"]],
  ["a count that is too large", ["fork", "x", "-n", "257"]],
  ["a time of more than a day", ["exec", "web", "--timeout", "1e9", "x"]],
  ["an empty time", ["exec", "web", "--timeout", " ", "x"]],
  ["an empty session", ["ps", ""]],
  ["an empty base", ["new", "--base", ""]],
  ["an empty user", ["new", "--user="]],
  ["an empty checkpoint", ["show", ""]],
  ["a very long reference", ["show", "x".repeat(1025)]],
  ["a very long intent", ["checkpoint", "web", "-m", "x".repeat(10_001)]],
  ["a time that is no number", ["exec", "web", "--timeout", "soon", "x"]],
  ["a variable without a value", ["new", "-e", "A"]],
  ["a network that does not exist", ["new", "--net", "moon"]],
] as const)("%s is refused", async ([, line]) => {
  await expect(parse(line)).rejects.toBeInstanceOf(CommanderError);
});

test("every command has examples that start with its own name, and exit codes", () => {
  for (const spec of COMMAND_TABLE) {
    const tail = helpTail(spec);

    expect(spec.examples.length, spec.name).toBeGreaterThan(0);
    for (const [line] of spec.examples) expect(line).toMatch(`waypoint ${spec.name}`);
    expect(tail).toContain("Exit codes:");
    for (const { meaning } of spec.answers ?? []) expect(tail).toContain(meaning);
    expect(spec.summary).toMatch(/^[A-Z].*[^.]$/);
  }
});

test("every command's file can be loaded", async () => {
  const specs = COMMAND_TABLE.flatMap((spec) => [spec, ...(spec.subcommands ?? [])]);

  for (const spec of specs) expect(typeof (await spec.load()).run, spec.name).toBe("function");
});

test("an error is told as message, cause and hint", () => {
  const error = new WaypointError("CRIU_DUMP_FAILED", "CRIU could not dump session s7.", {
    hint: "Start the session with `waypoint run`.",
    detail: { criuErrors: ["tty: dangling\u001b[2J", "second"], logPath: import.meta.filename },
  });

  expect(renderError(error, plain)).toEqual([
    "Error: CRIU could not dump session s7.",
    `Cause: tty: dangling␛[2J\n       second\n       (log: ${import.meta.filename})`,
    "Hint:  Start the session with `waypoint run`.",
  ]);
  expect(exitCodeOf(error)).toBe(ERROR_REGISTRY.CRIU_DUMP_FAILED.exitCode);
});

test("of many lines of a cause the first two are shown, each once, and no log that is gone", () => {
  const criuErrors = ["tty: dangling", "tty: dangling", "second", "third", "fourth"];
  const detail = { criuErrors, logPath: "/nowhere/dump.log" };

  expect(renderError(new WaypointError("CRIU_DUMP_FAILED", "No.", { detail }), plain)).toEqual([
    "Error: No.",
    "Cause: tty: dangling\n       second\n       (2 more in detail with --json)",
  ]);
});

test("whoever answers no is told so without an error", () => {
  const detail = { answered: "no" };
  const error = new WaypointError("CANCELLED", "Nothing was changed.", { detail, hint: "Yes." });

  expect(renderError(error, plain)).toEqual(["Nothing was changed."]);
  expect(exitCodeOf(error)).toBe(130);
});

test("help lists the same commands as docs/cli.md, those below others too", () => {
  const listed = buildProgram().helpInformation().split("Commands:")[1] ?? "";
  const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8");
  const headings = page.matchAll(/^## waypoint (.*)$/gm);

  for (const [, command = ""] of headings)
    expect(listed).toMatch(new RegExp(`^  ${command} `, "m"));
  expect([...page.matchAll(/^## waypoint /gm)]).toHaveLength(
    [...listed.matchAll(/^ {2}\S/gm)].length,
  );
});

test("help knows subcommands and says what is no command", async () => {
  let printed = "";
  const help = async (...names: string[]) => {
    const writeOut = (text: string) => {
      printed += text;
    };
    await buildProgram({ writeOut }).parseAsync(["help", ...names], { from: "user" });
  };

  await expect(help("daemon", "status")).rejects.toMatchObject({ exitCode: 0 });
  expect(printed).toContain("Usage: waypoint daemon status");
  await expect(help("nosuch")).rejects.toMatchObject({
    code: "USAGE_INVALID",
    message: 'There is no command "nosuch".',
  });
});

test("a code of a newer daemon ends with exit code 1", () => {
  const wire = { code: "SOMETHING_NEW", message: "New.", hint: null, detail: {} };

  expect(exitCodeOf(WaypointError.fromJSON(wire))).toBe(1);
});

test("commands that ask where somebody is typing tell what a no means, and nobody to ask", () => {
  for (const name of ["restore", "undo", "rewind"]) {
    const spec = COMMAND_TABLE.find((each) => each.name === name);
    const meanings = spec === undefined ? [] : exitCodesOf(spec).map(({ meaning }) => meaning);
    expect(meanings.join(", "), name).toMatch(/TERMINAL_IN_USE.*CANCELLED/);
  }
});
