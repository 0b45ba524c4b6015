import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import { WAYPOINT_COMMAND } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

const CLI = fileURLToPath(new URL("../../dist/cli.cjs", import.meta.url));
const CTRL_BRACKET = "\u001d";

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
  await own.waypoint.new({ name: "web" });
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

/** A waypoint command in a terminal of its own, which script(1) provides. */
class InTerminal {
  output = "";
  readonly #child: ChildProcess;

  constructor(args: string) {
    // stty tells afterwards whether the terminal is as it was.
    const line = `${process.execPath} ${CLI} --dir ${own.stateDir} ${args}; echo "exit=$?"; stty -a`;
    this.#child = spawn("script", ["-qec", line, "/dev/null"], {
      stdio: ["pipe", "pipe", "ignore"],
    });
    this.#child.stdout?.on("data", (chunk: Buffer) => {
      this.output += chunk.toString();
    });
  }

  type(keys: string): void {
    this.#child.stdin?.write(keys);
  }

  async shows(text: string | RegExp): Promise<void> {
    const found = () =>
      typeof text === "string" ? this.output.includes(text) : text.test(this.output);
    await eventually(`the terminal to show ${text}`, () => this.output, found);
  }

  async ended(): Promise<string> {
    if (this.#child.exitCode === null) await once(this.#child, "close");
    return this.output;
  }
}

function expectCooked(output: string): void {
  expect(output).toMatch(/(?<!-)\bicanon\b/);
  expect(output).toMatch(/(?<!-)\becho\b/);
}

test("attach shows the session, detaches at the chord and puts the terminal back", async () => {
  const terminal = new InTerminal("attach web");
  await terminal.shows("# ");
  terminal.type("echo $((40 + 2))\r");
  await terminal.shows("42");
  terminal.type(`${CTRL_BRACKET}d`);

  const output = await terminal.ended();

  expect(output).toContain("exit=0");
  expect(output).toContain("Detached; web runs on.");
  expectCooked(output);
});

test("attach says once, dimmed, on the screen that it draws, where one is and how to leave", async () => {
  await using terminal = await Tmux.start(
    `env -u NO_COLOR sh -c '${WAYPOINT_COMMAND} --dir ${own.stateDir} attach gone;` +
      ` ${WAYPOINT_COMMAND} --dir ${own.stateDir} attach web'`,
    { columns: 60, rows: 8 },
  );

  await terminal.shows(/# .* Attached to web; Ctrl-\] d detaches\.$/m);
  const lines = (await terminal.screen({ escapes: true })).split("\n");
  await terminal.type("echo $((40 + 2))\r");
  await terminal.shows(/^42$/m);
  const all = await terminal.call("capture-pane", "-p", "-S", "-");

  expect(lines[0]).toContain("\u001b[2mAttached to web");
  expect(all.match(/Attached to \w+/g)).toEqual(["Attached to web"]);
});

test("attach survives the death of the daemon and the shell is the same", async () => {
  const terminal = new InTerminal("attach web");
  await terminal.shows("# ");
  terminal.type("MARK=kept\r");
  await terminal.shows("MARK=kept");
  process.kill(await own.daemonPid(), "SIGKILL");
  await terminal.shows("connecting again");
  terminal.type("echo still-$MARK\r");
  await terminal.shows("still-kept");
  terminal.type(`${CTRL_BRACKET}d`);

  const output = await terminal.ended();

  expect(output).toContain("exit=0");
  expectCooked(output);
});

test("a program on the terminal ends with its exit code, and its modes are put back", async () => {
  const line = "printf '\\033[?1049h\\033[?25l'; exit 9";
  const terminal = new InTerminal(`exec web --tty -- sh -c "${line}"`);

  const output = await terminal.ended();

  expect(output).toContain("exit=9");
  expect(output).toContain("\u001b[?1049l");
  expectCooked(output);
});

test("run starts a session, shows the command and ends with its exit code", async () => {
  const terminal = new InTerminal("run --name tool -- sh -c 'tty; sleep 0.3; exit 5'");
  await terminal.shows("/dev/pts/");

  const output = await terminal.ended();

  expect(output).toContain("exit=5");
});

test("restore asks on a terminal, and no is an answer", async () => {
  const session = await own.waypoint.session("web");
  await session.checkpoint({ name: "kept" });
  const terminal = new InTerminal("restore web kept");
  await terminal.shows("[y/N]");
  terminal.type("n\r");

  const output = await terminal.ended();

  expect(output).toContain("Nothing was changed.");
  expect(output).not.toContain("Error:");
  expect(output).toContain("exit=130");
});
