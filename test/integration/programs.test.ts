import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { branchInThree, removeBranches } from "../support/branches.ts";
import { TestTerminal } from "../support/test-terminal.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

const CTRL_C = "\u0003";
const CTRL_U = "\u0015";
const ESCAPE = "\u001b";

/** Prints which of its files it has seen so far, which only its memory knows. */
const WATCHER = `
  const fs = require("node:fs");
  const seen = new Set();
  fs.watch("/root/watched", (_kind, file) => {
    seen.add(file);
    console.log("seen " + [...seen].join(",") + ".");
  });
  console.log("watching");
`;

let own: TestWaypoint;

beforeAll(async () => {
  own = await openTestWaypoint();
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

async function start(line: string): Promise<{ session: Session; terminal: TestTerminal }> {
  const session = await own.waypoint.new();
  const terminal = await TestTerminal.attach(session);
  await terminal.type(`PS1='ready> '; clear; ${line}\r`);
  return { session, terminal };
}

async function contentOf(session: Session, path: string): Promise<string> {
  return (await session.exec(["cat", path], { shell: "own" })).stdout;
}

describe("a program that was checkpointed running goes on in the original and in two forks", () => {
  test("bash: environment, directory, functions, jobs and a half-typed line", async () => {
    const { session, terminal } = await start("export COLOR=blue; cd /usr/share; sleep 100000 &");
    await terminal.type('greet() { echo "hello $1, $COLOR"; }\r');
    await terminal.type("echo half-");
    await terminal.waitFor(/^ready> echo half-$/);
    const checkpoint = await session.checkpoint();

    await terminal.type(`${CTRL_U}export COLOR=red; cd /; unset -f greet; kill %1; clear\r`);
    await terminal.type("pwd\r");
    await terminal.waitFor(/^\/$/);
    const branches = await branchInThree(session, terminal, checkpoint);

    for (const { index, terminal } of branches) {
      await terminal.waitFor(/^ready> echo half-$/);
      await terminal.type(`typed-${index}; greet ${index}; pwd; jobs\r`);
      await terminal.waitFor(new RegExp(`^half-typed-${index}$`));
      await terminal.waitFor(new RegExp(`^hello ${index}, blue$`));
      await terminal.waitFor(/^\/usr\/share$/);
      await terminal.waitFor(/^\[1\]\+ {2}Running {17}sleep 100000 &$/);
    }
    for (const { index, session } of branches) {
      await session.exec(`COLOR=color-${index}; cd /usr/lib`);
    }
    for (const { index, session } of branches) {
      const { stdout } = await session.exec(`printenv COLOR; pwd; kill %1 && echo killed`);
      expect(stdout).toBe(`color-${index}\n/usr/lib\nkilled\n`);
    }
    await removeBranches(branches);
  });

  test("a Python REPL: variables, an iterator half way, an open file", async () => {
    const { session, terminal } = await start("/usr/bin/python3 -q");
    await terminal.type("numbers = [1, 2, 3]; half = iter('abc'); next(half)\r");
    await terminal.waitFor(/^'a'$/);
    await terminal.type("notes = open('/root/notes', 'w'); notes.write('before ')\r");
    await terminal.waitFor(/^7$/);
    const checkpoint = await session.checkpoint();

    await terminal.type("numbers.clear(); list(half); notes.close(); 'chan' 'ged'\r");
    await terminal.waitFor(/^'changed'$/);
    const branches = await branchInThree(session, terminal, checkpoint);

    for (const { index, terminal } of branches) {
      await terminal.type(`numbers.append(${index}); (numbers, next(half))\r`);
      await terminal.waitFor(new RegExp(`^\\(\\[1, 2, 3, ${index}\\], 'b'\\)$`));
      await terminal.type(`_ = notes.write('after-${index}'); notes.flush(); 'writ' 'ten'\r`);
      await terminal.waitFor(/^'written'$/);
    }
    for (const { index, session } of branches) {
      expect(await contentOf(session, "/root/notes")).toBe(`before after-${index}`);
    }
    await removeBranches(branches);
  });

  test("vim in insert mode", async () => {
    const { session, terminal } = await start("vim --clean /root/letter");
    await terminal.waitFor(/letter" \[New\]/);
    await terminal.type("iDear reader,\r");
    await terminal.waitFor(/^Dear reader,$/);
    await terminal.waitFor(/-- INSERT --/);
    const checkpoint = await session.checkpoint();

    await terminal.type(`${ESCAPE}:q!\r`);
    await terminal.waitFor(/^ready> /);
    const branches = await branchInThree(session, terminal, checkpoint);

    for (const { index, terminal } of branches) {
      await terminal.waitFor(/^Dear reader,$/);
      await terminal.waitFor(/-- INSERT --/);
      await terminal.type(`this is ${index}.${ESCAPE}:wq\r`);
      await terminal.waitFor(/^ready> /);
    }
    for (const { index, session } of branches) {
      expect(await contentOf(session, "/root/letter")).toBe(`Dear reader,\nthis is ${index}.\n`);
    }
    await removeBranches(branches);
  });

  test.each([
    ["the machine's Node", "node"],
    ["Node that runs this test", process.execPath],
  ])("fs.watch in %s", async (_name, node) => {
    const { session, terminal } = await start("mkdir /root/watched");
    await session.exec(["tee", "/root/watch.cjs"], { shell: "own", input: WATCHER });
    await terminal.type(`clear; ${node} /root/watch.cjs\r`);
    await terminal.waitFor(/^watching$/);
    await session.exec("touch /root/watched/first", { shell: "own" });
    await terminal.waitFor(/^seen first\.$/);
    const checkpoint = await session.checkpoint();

    await session.exec("touch /root/watched/lost", { shell: "own" });
    await terminal.waitFor(/^seen first,lost\.$/);
    const branches = await branchInThree(session, terminal, checkpoint);

    for (const { index, session, terminal } of branches) {
      await session.exec(`touch /root/watched/new-${index}`, { shell: "own" });
      await terminal.waitFor(new RegExp(`^seen first,new-${index}\\.$`));
    }
    for (const { session, terminal } of branches) {
      await terminal.type(CTRL_C);
      await terminal.waitFor(/^ready> /);
      const { stdout } = await session.exec("ls /root/watched | wc -l");
      expect(stdout.trim()).toBe("2");
    }
    await removeBranches(branches);
  });

  test("processes of another user", async () => {
    const { session, terminal } = await start(
      "setpriv --reuid 65534 --regid 65534 --clear-groups /usr/bin/python3 -q",
    );
    await terminal.type("import os; mine = open('/tmp/mine', 'w'); (os.getuid(), os.getgid())\r");
    await terminal.waitFor(/^\(65534, 65534\)$/);
    const checkpoint = await session.checkpoint();

    await terminal.type("mine.close(); exit()\r");
    await terminal.waitFor(/^ready> /);
    const branches = await branchInThree(session, terminal, checkpoint);

    for (const { index, terminal } of branches) {
      await terminal.type(`_ = mine.write('${index}'); mine.flush(); os.getresuid()\r`);
      await terminal.waitFor(/^\(65534, 65534, 65534\)$/);
      await terminal.type("open('/root/forbidden', 'w')\r");
      await terminal.waitFor(/^PermissionError: /);
    }
    for (const { index, session } of branches) {
      const { stdout } = await session.exec("cat /tmp/mine; stat -c ' %u' /tmp/mine", {
        shell: "own",
      });
      expect(stdout).toBe(`${index} 65534\n`);
    }
    await removeBranches(branches);
  });
});
