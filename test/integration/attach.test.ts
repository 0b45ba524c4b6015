import { createHash, randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { WAYPOINT_COMMAND } from "../support/command-line.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";
import { Tmux } from "../support/tmux.ts";

const ESCAPE = "\u001b";
const DETACH = "\u001dd";
const PROMPT = /^ready>$/m;
/** Longer than a program takes to draw itself again after a change of its terminal's size. */
const SETTLED_MS = 500;
const LINES = Array.from({ length: 60 }, (_, at) => `line-${at + 1}-`.padEnd(105, "abc"));
const PASTED_BYTES = 1_000_000;

let own: TestWaypoint;
let session: Session;
let scratch: string;
const terminals: Tmux[] = [];

beforeAll(async () => {
  own = await openTestWaypoint();
  scratch = mkdtempSync(path.join(os.tmpdir(), "waypoint-attach-"));
});

beforeEach(async () => {
  session = await own.waypoint.new();
  await session.exec("PS1='ready> '");
});

afterEach(async () => {
  for (const terminal of terminals.splice(0)) await terminal[Symbol.asyncDispose]();
  await session.remove({ force: true });
});

afterAll(async () => {
  if (scratch !== undefined) rmSync(scratch, { recursive: true });
  await own?.[Symbol.asyncDispose]();
});

/** A person at a terminal runs `waypoint attach`. */
async function attach(size?: { columns: number; rows: number }): Promise<Tmux> {
  const line = `${WAYPOINT_COMMAND} --dir ${own.stateDir} attach ${session.name}; echo left=$?`;
  const terminal = await Tmux.start(line, size);
  terminals.push(terminal);
  return terminal;
}

async function attachAtPrompt(): Promise<Tmux> {
  const terminal = await attach();
  await terminal.shows(/ready> *$/m);
  await terminal.type("clear\r");
  await terminal.shows(/^ready> *\n*$/);
  return terminal;
}

/** Opens lines in vim of which each takes two rows of any of these screens. */
async function openLines(terminal: Tmux): Promise<void> {
  await terminal.shows(/ready> *$/m);
  await session.exec(`printf '${LINES.join("\\n")}\n' > /root/lines`);
  await terminal.type("vim --clean /root/lines\r");
  await terminal.shows(/^line-1-/m);
}

/**
 * Waits until a screen shows the first lines in vim of this size, and then that it stays so. To the
 * right of them a larger terminal shows the character with which vim makes a smaller one wrap.
 */
async function showsLines(terminal: Tmux, columns: number, rows: number): Promise<void> {
  const cut = LINES.flatMap((line) => [line.slice(0, columns), line.slice(columns)]);
  const expected = cut.slice(0, 2 * Math.floor((rows - 1) / 2)).join();
  const isRight = (screen: string) => {
    const shown = screen.split("\n").map((line) => line.slice(0, columns));
    return shown.join().startsWith(expected) && shown.slice(rows).join("") === "";
  };
  await eventually(`vim in ${columns}x${rows}`, () => terminal.screen(), isRight);
  await delay(SETTLED_MS);
  expect(await terminal.screen()).toSatisfy(isRight);
}

async function contentOf(file: string): Promise<string> {
  return (await session.exec(["cat", file], { shell: "own" })).stdout;
}

describe("full-screen programs", () => {
  test("vim: edit, save, and get the screen of before back", async () => {
    const terminal = await attachAtPrompt();
    await terminal.type("echo before; vim --clean /root/letter\r");
    await terminal.shows(/letter" \[New\]/);

    await terminal.type("iDear reader,\r");
    await terminal.shows(/-- INSERT --/);
    await terminal.type(`yours.${ESCAPE}:wq\r`);
    await terminal.shows(/^before\n(.*\n)*ready> *$/m);

    expect(await contentOf("/root/letter")).toBe("Dear reader,\nyours.\n");
  });

  test("less and top", async () => {
    await session.exec("seq 1 5000 > /root/numbers");
    const terminal = await attachAtPrompt();
    await terminal.type("less /root/numbers\r");
    await terminal.shows(/^29$/m);
    await terminal.type("G");
    await terminal.shows(/^5000$/m);
    await terminal.type("q");
    await terminal.shows(PROMPT);
    await terminal.type("top -d 1\r");
    await terminal.shows(/load average:[\s\S]*PID +USER[\s\S]*top/);
    await terminal.type("q");

    await terminal.shows(PROMPT);
  });
});

describe("what a terminal can do", () => {
  test("sizes: the session has this one's, and follows it", async () => {
    const terminal = await attach({ columns: 91, rows: 23 });
    await terminal.shows(/ready> *$/m);
    await terminal.type("clear; stty size\r");
    await terminal.shows(/^23 91$/m);
    await terminal.type("vim --clean\r");
    await terminal.shows(/VIM - Vi IMproved/);

    await terminal.resize(132, 41);

    await terminal.type(":echo 'now' &lines &columns\r");
    await terminal.shows(/^now 41 132/m);
  });

  test("colours, attributes and wide characters", async () => {
    const terminal = await attachAtPrompt();

    await terminal.type(
      "printf '\\033[38;2;10;20;30mtrue\\033[0m \\033[38;5;202mindexed\\033[0m \\033[1;4;31mstrong\\033[0m\\n'\r",
    );
    await terminal.type("echo größe 日本語 🦊.\r");
    await terminal.shows(/^größe 日本語 🦊\.$/m);

    const screen = await terminal.screen({ escapes: true });
    expect(screen).toContain("38;2;10;20;30mtrue");
    expect(screen).toContain("38;5;202mindexed");
    expect(screen).toMatch(/\[1[^\n]*4[^\n]*31mstrong/);
  });

  test("the mouse: a click in vim moves the cursor", async () => {
    await session.exec("seq -f 'line %.0f of text' 1 20 > /root/lines");
    const terminal = await attachAtPrompt();
    await terminal.type("vim --clean +'set mouse=a ttymouse=sgr' /root/lines\r");
    await terminal.shows(/line 20 of text/);
    await eventually(
      "vim to ask for the mouse",
      () => terminal.variable("mouse_any_flag"),
      (flag) => flag === "1",
    );

    await terminal.type(`${ESCAPE}[<0;6;12M${ESCAPE}[<0;6;12m`);
    await terminal.type("x:wq\r");
    await terminal.shows(PROMPT);

    expect((await contentOf("/root/lines")).split("\n")[11]).toBe("line 2 of text");
    expect(await terminal.variable("mouse_any_flag")).toBe("0");
  });

  test("a bracketed paste of 1 MB arrives whole", async () => {
    const digits = randomBytes(PASTED_BYTES / 2).toString("hex");
    const text = digits.replaceAll(/.{64}/g, "$&\n");
    writeFileSync(path.join(scratch, "paste"), text);
    const terminal = await attachAtPrompt();
    await terminal.type("vim --clean /root/pasted\r");
    await terminal.shows(/pasted" \[New\]/);
    await terminal.type("i");
    await terminal.shows(/-- INSERT --/);
    await terminal.pasteFile(path.join(scratch, "paste"));
    await terminal.type(`${ESCAPE}:wq\r`);
    await eventually(
      "vim to end",
      () => terminal.screen(),
      (s) => PROMPT.test(s),
      60_000,
    );

    const { stdout } = await session.exec("head -c -1 /root/pasted | sha256sum", { shell: "own" });
    expect(stdout.slice(0, 64)).toBe(createHash("sha256").update(text).digest("hex"));
  });
});

describe("two people at once", () => {
  test("see the same, on a screen that fits both, and one may leave", async () => {
    const large = await attach({ columns: 120, rows: 40 });
    await large.shows(/ready> *$/m);
    const small = await attach({ columns: 70, rows: 20 });
    await small.shows(/ready> *$/m);

    await small.type("clear; stty size\r");
    await large.shows(/^20 70$/m);
    await large.type("echo from-large\r");
    await small.shows(/^from-large$/m);
    await small.type(DETACH);
    await small.shows(/left=0/);
    await large.type("clear; stty size\r");

    await large.shows(/^40 120$/m);
  });
});

describe("leaving and coming back", () => {
  test("a detached session goes on, and is drawn as it looks then", async () => {
    const first = await attachAtPrompt();
    await first.type("vim --clean +startinsert /root/story\r");
    // A size that changes while vim starts lets it show this message in place of its mode.
    await first.shows(/-- INSERT --|story" \[New\]/);
    await first.type("Once upon");
    await first.shows(/^Once upon$/m);
    await first.type(DETACH);
    await first.shows(/runs on[\s\S]*left=0/);
    const second = await attach();
    await second.shows(/^Once upon$[\s\S]*-- INSERT --/m);
    await second.type(` a time${ESCAPE}:wq\r`);
    await second.shows(/ready> *$/m);

    expect(await contentOf("/root/story")).toBe("Once upon a time\n");
  });

  test("the terminal stays over checkpoint, restore and undo, and is drawn anew", async () => {
    const terminal = await attachAtPrompt();
    await terminal.type("vim --clean /root/draft\r");
    await terminal.shows(/draft" \[New\]/);
    await terminal.type("ifirst version");
    await terminal.shows(/^first version$/m);

    const checkpoint = await session.checkpoint();
    await terminal.type(", then more");
    await terminal.shows(/^first version, then more$/m);
    await session.restore(checkpoint, { whileTyping: true });
    await terminal.shows(/^first version$[\s\S]*-- INSERT --/m);
    await terminal.type(", then other words");
    await terminal.shows(/^first version, then other words$/m);
    await session.undo({ whileTyping: true });
    await terminal.shows(/^first version, then more$[\s\S]*-- INSERT --/m);
    await terminal.type(`${ESCAPE}:wq\r`);
    await terminal.shows(/ready> *$/m);

    expect(await contentOf("/root/draft")).toBe("first version, then more\n");
  });

  test("a restore into a terminal of another size shows the program in the new one", async () => {
    const terminal = await attach({ columns: 60, rows: 14 });
    await openLines(terminal);
    const checkpoint = await session.checkpoint();
    for (const columns of [70, 70, 55, 60]) {
      await terminal.resize(columns, columns - 46);
      await showsLines(terminal, columns, columns - 46);
      await session.restore(checkpoint, { whileTyping: true });
      await showsLines(terminal, columns, columns - 46);
    }
  });

  test("a restore under two terminals of different sizes shows the program in both", async () => {
    const small = await attach({ columns: 80, rows: 24 });
    await openLines(small);
    const checkpoint = await session.checkpoint();
    const large = await attach({ columns: 100, rows: 40 });
    await showsLines(large, 80, 24);

    for (let round = 0; round < 3; round += 1) {
      await session.restore(checkpoint, { whileTyping: true });
      await showsLines(small, 80, 24);
      await showsLines(large, 80, 24);
    }
  });

  test("keys typed while the session is restored do not end the attachment", async () => {
    const terminal = await attachAtPrompt();
    const checkpoint = await session.checkpoint();

    for (let round = 0; round < 5; round += 1) {
      const restored = session.restore(checkpoint, { whileTyping: true });
      for (let key = 0; key < 10; key += 1) await terminal.type(".");
      await restored;
    }
    await terminal.type("\u0015clear; echo still-$((6 * 7))\r");

    const screen = await terminal.shows(/^still-42$/m);
    expect(screen).not.toContain("connecting again");
    expect(screen).not.toContain("left=");
  });

  test("the end of the session ends the attachment, and its terminal is given back", async () => {
    const ended = await attachAtPrompt();
    await session.stop();
    await ended.shows(/has ended[\s\S]*left=\d+/);

    expect(await ended.variable("alternate_on")).toBe("0");
  });
});
