import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import path from "node:path";
import { expect, test } from "vitest";
import { buildDumpArguments, buildRestoreArguments } from "../../src/linux/criu/index.ts";
import { findCriu } from "../../src/linux/host/index.ts";
import { InitLink } from "../../src/linux/terminal/index.ts";
import { bashProgram, openSandbox, type Sandbox } from "../support/terminal/sandbox.ts";

const PROJECT = path.join(import.meta.dirname, "../..");
/** What takes longer never comes: the test tells what came in its place, and cleans up. */
const LATE_MS = 60_000;
const TAIL_CHARACTERS = 200;

/** Copies the files while the tasks are frozen, as the snapshot does in a real session. */
const COPY_FILES = `#!/bin/sh
[ "$CRTOOLS_SCRIPT_ACTION" != post-dump ] || cp -a "$WAYPOINT_TEST_DIRECTORY/upper" "$WAYPOINT_TEST_DIRECTORY/upper2"
`;

const MOUNT_COPY =
  'cd "$1"; mkdir work2 copy; mount -t overlay overlay -o index=on,nfs_export=on,lowerdir=/,upperdir=upper2,workdir=work2 copy';

/** Runs a program where the session's mount is seen. */
function inside(sandbox: Sandbox, argv: string[], env: Record<string, string> = {}): void {
  const nsenter = ["-t", String(sandbox.holderPid), "-m"];
  execFileSync("nsenter", [...nsenter, ...argv], {
    env: { ...process.env, ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
}

async function criu(sandbox: Sandbox, args: string[]): Promise<void> {
  const { argv, env } = await findCriu({
    packageRoot: PROJECT,
    preloadPath: path.join(PROJECT, ".tools/native/criu-preload.so"),
  });
  inside(sandbox, [...argv, ...args], { ...env, WAYPOINT_TEST_DIRECTORY: sandbox.directory });
}

async function outputOf(link: InitLink, commandId: number): Promise<string> {
  const reader = link.readCommand(commandId);
  let text = "";
  const late = setTimeout(() => {
    reader.fail(
      new Error(
        `command ${commandId} has not ended after ${JSON.stringify(text.slice(-TAIL_CHARACTERS))}`,
      ),
    );
  }, LATE_MS);
  for await (const { bytes } of reader) text += bytes.toString();
  clearTimeout(late);
  expect(await reader.result).toMatchObject({ exitCode: 0 });
  return text;
}

async function run(link: InitLink, terminal: number, script: string): Promise<string> {
  return outputOf(link, await link.runInShell(terminal, script, { shell: "bash" }));
}

/** Dumps the sandbox while it runs on, and restores the copy. Returns the copy's first process. */
async function fork(sandbox: Sandbox): Promise<number> {
  const { directory } = sandbox;
  const hook = path.join(directory, "hook");
  writeFileSync(hook, COPY_FILES, { mode: 0o755 });
  for (const name of ["images", "dump", "restore"]) mkdirSync(path.join(directory, name));
  const common = { imagesDir: `${directory}/images`, logName: "log" };
  await criu(
    sandbox,
    buildDumpArguments({
      ...common,
      pid: sandbox.pid,
      rootDir: `${directory}/merged`,
      workDir: `${directory}/dump`,
      snapshotHookPath: hook,
    }),
  ).catch((error: unknown) => {
    throw new Error(tail(`${directory}/dump/log`), { cause: error });
  });
  inside(sandbox, ["sh", "-ec", MOUNT_COPY, "sh", directory]);
  const pidFile = `${directory}/restore/pid`;
  await criu(
    sandbox,
    buildRestoreArguments({
      ...common,
      rootDir: `${directory}/copy`,
      workDir: `${directory}/restore`,
      pidFile,
    }),
  ).catch((error: unknown) => {
    throw new Error(tail(`${directory}/restore/log`), { cause: error });
  });
  return Number(readFileSync(pidFile, "utf8"));
}

function tail(file: string): string {
  return existsSync(file) ? readFileSync(file, "utf8").slice(-1500) : `no ${file}`;
}

test("a session dumped in the middle of everything goes on, and so does its copy", async () => {
  await using sandbox = await openSandbox();
  const { link } = sandbox;
  const terminal = await link.openTerminal(bashProgram());
  const second = await link.openTerminal(bashProgram());
  await run(link, terminal, "cd /usr; export KEPT=1; (sleep 1000) &");
  await run(link, second, "true"); // a line editor that has not begun yet shows what is typed in another form
  await link.write(second, Buffer.from("echo half"));
  const lines = 20_000;
  const script = `for i in $(seq ${lines}); do echo $i; [ $i != 9000 ] || sleep 1; done`;
  const printing = await link.runInShell(terminal, script, { shell: "bash", show: false });
  const original = outputOf(link, printing);
  original.catch(() => {}); // awaited below, unless the dump fails first
  await new Promise((resolve) => setTimeout(resolve, 400));

  await link.quiesce();
  const copyPid = await fork(sandbox);
  await link.resume();

  try {
    const expected = Array.from({ length: lines }, (_, index) => `${index + 1}\n`).join("");
    expect(await original).toBe(expected);
    const copy = await InitLink.connect(`/proc/${copyPid}/root/run/waypoint/init.sock`);
    const { commands } = await copy.list();
    expect(commands).toMatchObject(
      [{ id: expect.any(Number) }, { id: printing }].slice(-commands.length),
    );
    expect(expected.endsWith(await outputOf(copy, printing))).toBe(true);
    for (const each of [link, copy]) {
      expect(await run(each, terminal, "pwd; echo $KEPT; jobs | wc -l")).toBe("/usr\n1\n1\n");
      await each.write(second, Buffer.from("-typed\r"));
      expect(await screenOf(each, second)).toContain("\rhalf-typed\r\n");
    }
    copy.end(new Error("test is over"));
  } finally {
    process.kill(copyPid, "SIGKILL");
  }
});

/** Returns what a terminal has shown, up to the line that was typed there in two halves. */
async function screenOf(link: InitLink, terminal: number): Promise<string> {
  const reader = link.readTerminal(terminal);
  const late = setTimeout(() => reader.close(), LATE_MS);
  let seen = "";
  for await (const { bytes } of reader) {
    seen += bytes.toString();
    if (seen.includes("\rhalf-typed\r\n")) break;
  }
  clearTimeout(late);
  reader.close();
  return seen;
}
