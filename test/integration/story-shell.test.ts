import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { OperationOutput, Session } from "../../src/index.ts";
import { TestBases } from "../support/bases.ts";
import { eventually, openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

type Diff = OperationOutput<"diff">;

const CLI = fileURLToPath(new URL("../../dist/cli.cjs", import.meta.url));
const PLAIN = { net: "none", env: { HOME: "/nonexistent" } } as const;

/** One of every kind of command that bash knows, quoted and redirected in every way. */
const FUNCTIONS = String.raw`
simple () { echo one "two  three" 'fo
ur' $(( 1 + 2 )) "$@" \$x; local -a list=(a "b c"); }
joined () { true && false || echo x; sleep 0 & wait; ! false | cat | cat; time -p true; }
chosen () { if [ -n "$1" ]; then echo y; elif true; then echo z; else echo n; fi; }
looped () { for x in a "b c"; do echo "$x"; done; for y; do :; done; while read -r l; do break; done </etc/passwd; until true; do :; done; select s in a b; do break; done; }
counted () { for ((i = 0; i < 3; i++)); do ((i += 1)); done; (( i > 1 )); }
cased () { case "$1" in a|"b c") echo a ;; [0-9]*) echo n ;& x) echo x ;;& *) ;; esac; }
tested () { [[ -n $1 && ( $2 == a* || ! -e /x ) && $3 =~ ^a.b$ ]]; }
grouped () { ( cd /; ls ) >/dev/null 2>&1; { echo a; echo b; } >>/tmp/x 2>|/tmp/y; } 2>/tmp/z
redirected () { exec 3<>/tmp/f 4>&1 5<&0; cat <&3 >&4; exec 3<&- 4>&- {fd}>/tmp/g; cat &>/tmp/h &>>/tmp/i; cat <<< "here $x"; exec 6<&5-; }
documented () {
  cat <<A <<-'B' | sed s/x/y/
first $x
A
	second $y
	B
  echo after
}
nested () { inner () { echo in; }; inner; coproc cat; coproc NAMED { cat; }; }
ünïcode () { echo ünï; }
subshell () ( echo in )
`;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new({ name: "told", ...PLAIN });
});

afterAll(async () => {
  await own?.[Symbol.asyncDispose]();
});

/** Runs a line, and returns what it changed, by checkpoint and by parent. */
async function changesOf(line: string, inside = session): Promise<Diff> {
  const before = await inside.checkpoint();
  expect(await inside.exec(line)).toMatchObject({ exitCode: 0, stderr: "" });
  const after = await inside.checkpoint();
  const { from, to, ...diff } = await own.waypoint.diff(before, after);
  expect((await after.show()).changes).toEqual(diff);
  return { from, to, ...diff };
}

/** What happened to the shell, one line each. */
function brief({ env, functions, cwd, virtualenv }: Diff): string[] {
  return [
    ...(env ?? []).map(({ name, change, before, after }) => `${change} ${name} ${before} ${after}`),
    ...(functions ?? []).map(({ name, change }) => `${change} ${name}()`),
    ...(cwd === null || cwd.before === cwd.after ? [] : [`cd ${cwd.before} ${cwd.after}`]),
    ...(virtualenv === null || virtualenv.before === virtualenv.after
      ? []
      : [`venv ${virtualenv.before} ${virtualenv.after}`]),
  ];
}

test("exported variables are told, and nothing that the shell keeps to itself", async () => {
  const told = await changesOf(
    "export FIRST=1 SPACED='a  b\n c' EMPTY=; LOCAL=x; declare -a LIST=(1 2); readonly HELD=1; export -n LOCAL",
  );
  const changed = await changesOf("FIRST=2; unset EMPTY; export LOCAL LANG=C; OTHER=3 true");
  const nothing = await changesOf("FIRST=$FIRST; true; ls >/dev/null");

  expect(brief(told)).toEqual([
    "added EMPTY null ",
    "added FIRST null 1",
    "added SPACED null a  b\n c",
  ]);
  expect(told.summary).toBe("3 variables");
  expect(brief(changed)).toEqual([
    "deleted EMPTY  null",
    "modified FIRST 1 2",
    "modified LANG C.UTF-8 C",
    "added LOCAL null x",
  ]);
  expect(brief(nothing)).toEqual([]);
  expect(nothing.summary).toBe("");
});

test("the first checkpoint tells what was set since the shell began", async () => {
  const fresh = await own.waypoint.new({
    ...{ name: "fresh", net: "none", cwd: "/srv" },
    env: { HOME: "/nonexistent", GIVEN: "1" },
  });
  const first = await fresh.checkpoint();
  await fresh.exec("export SET=1; unset GIVEN; cd /; f () { :; }");
  const second = await (await own.waypoint.fork(first))[0]?.checkpoint();
  const live = await own.waypoint.diff(first, fresh);

  expect(brief({ from: "", to: "", ...(await first.show()).changes })).toEqual([]);
  expect(second && brief({ from: "", to: "", ...(await second.show()).changes })).toEqual([]);
  expect(brief(live)).toEqual([
    "deleted GIVEN 1 null",
    "added SET null 1",
    "added f()",
    "cd /srv /",
  ]);
  await fresh.remove({ force: true });
});

test("a change of directory is told by its end", async () => {
  const told = await changesOf("mkdir -p '/srv/in here'; cd /tmp; cd '/srv/in here'");
  const back = await changesOf("cd /srv; rmdir 'in here'; cd /root");

  expect(brief(told)).toEqual(["cd /root /srv/in here"]);
  expect(told.summary).toBe("cd /srv/in here, 1 directory");
  expect(brief(back)).toEqual(["cd /srv/in here /root"]);
});

test("functions are told as they are written, and a new body is a change", async () => {
  const told = await changesOf("greet () { echo hello; }; other () { :; }");
  const changed = await changesOf('greet () { echo hello, "$1"; }; other () { :; }; unset -f none');
  const gone = await changesOf("unset -f greet other");

  expect(brief(told)).toEqual(["added greet()", "added other()"]);
  expect(told.functions?.[0]?.after).toBe("greet () {\n    echo hello\n}");
  expect(brief(changed)).toEqual(["modified greet()"]);
  expect(changed.summary).toBe("function greet");
  expect(brief(gone)).toEqual(["deleted greet()", "deleted other()"]);
});

test("what is told of a function defines the same function again", async () => {
  const told = await changesOf(FUNCTIONS);
  const names = (told.functions ?? []).map(({ name }) => name);
  const texts = (told.functions ?? []).map(({ after }) => after).join("\n");
  const declared = await session.exec("declare -f");
  await session.exec(["tee", "/srv/functions"], { shell: "own", input: `${texts}\n` });

  const again = await session.exec("bash -c '. /srv/functions; declare -f'");

  expect(names).toHaveLength(13);
  expect(again.stderr).toBe("");
  const written = declared.stdout.split(/^(?=\S+ \(\) ?\n)/m);
  const own = written.filter((text) => !text.startsWith("__waypoint_"));
  expect(again.stdout.split(/^(?=\S+ \(\) ?\n)/m)).toEqual(own);
  await session.exec(`unset -f ${names.join(" ")}; rm /srv/functions`);
});

test("an activated virtualenv is told, with what it sets", async () => {
  await session.exec("/usr/bin/python3 -m venv --without-pip /srv/shop");

  const on = await changesOf(". /srv/shop/bin/activate");
  const off = await changesOf("deactivate");

  expect(on.virtualenv).toEqual({ before: null, after: "/srv/shop" });
  expect(on.env?.map(({ name }) => name)).toEqual([
    ...["PATH", "PS1", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT"],
  ]);
  expect(on.summary).toBe("venv shop");
  expect(off.virtualenv).toEqual({ before: "/srv/shop", after: null });
  expect(off.summary).toBe("venv off");
});

test("the shell is told while it is busy, from the checkpoint and live", async () => {
  const before = await session.checkpoint();
  const running = session.exec("export BUSY=1; cd /srv; sleep 1000; true", { timeoutMs: 60_000 });
  await eventually(
    "the program in the foreground",
    async () => (await session.ps()).map(({ command }) => command),
    (commands) => commands.includes("sleep 1000"),
  );
  const live = await own.waypoint.diff(before, session);
  const after = await session.checkpoint();
  const told = await own.waypoint.diff(before, after);

  expect(brief(told)).toEqual(["added BUSY null 1", "cd /root /srv"]);
  expect(brief(live)).toEqual(brief(told));
  const sleeping = (await session.ps()).find(({ command }) => command === "sleep 1000");
  await session.exec(["kill", String(sleeping?.pid)], { shell: "own" });
  await running;
  await session.exec("unset BUSY; cd /root");
});

test("a shell that was ended and began again has the variables of a new one", async () => {
  await session.exec("export BEFORE=1; cd /srv");
  const before = await session.checkpoint();
  await session.exec("exit");

  const told = await own.waypoint.diff(before, session);

  expect(brief(told)).toContain("deleted BEFORE 1 null");
  expect(told.processes?.ended).toHaveLength(1);
  expect(told.processes?.started).toHaveLength(1);
  await session.exec("cd /root");
});

test("values of secrets are hidden on the screen, and in the answer", async () => {
  const before = await session.checkpoint();
  await session.exec("export API_TOKEN=hunter2 PLAIN=shown");
  const after = await session.checkpoint();

  const text = await waypoint("diff", before.id, after.id);
  const json = await waypoint("diff", before.id, after.id, "--json");

  expect(text).toMatch(/^\+ env API_TOKEN=•••\n\+ env PLAIN=shown$/m);
  expect(JSON.parse(json).env[0]).toMatchObject({ name: "API_TOKEN", after: "hunter2" });
  // The screen and the commands, which `show` has too, are as they were.
  const shown = (await waypoint("show", after.id)).split("\n");
  const variables = shown.filter((line) => /^\W* env /.test(line));
  expect(variables.join("\n")).toContain("API_TOKEN=•••");
  expect(variables.join("\n")).not.toContain("hunter2");
});

test("of shells that do not show their variables the directory is told, and why not more", async () => {
  using bases = new TestBases();
  const base = await bases.makeBusybox("busybox");
  const ash = await own.waypoint.new({ name: "ash", base, shell: "/bin/sh", net: "none" });

  const told = await changesOf("export A=1; mkdir -p /srv; cd /srv", ash);

  expect(told.cwd).toEqual({ before: expect.any(String), after: "/srv" });
  expect([told.env, told.functions, told.virtualenv]).toEqual([null, null, null]);
  expect(told.unknown["env"]).toBe("the variables of busybox cannot be read from its memory");
  await ash.remove({ force: true });
});

test("of zsh the environment is told, not the functions", async () => {
  using bases = new TestBases();
  const base = await bases.makeDebian("zsh", ["zsh", "zsh-common", "libcap2"]);
  const env = { HOME: "/none" };
  const zsh = await own.waypoint.new({ name: "zsh", base, shell: "/bin/zsh", net: "none", env });
  const { changes } = await (await zsh.checkpoint()).show();

  const told = await changesOf("export A=1; cd /tmp; f () { :; }", zsh);

  expect(changes.env).toEqual([]);
  expect(told.env).toEqual([{ name: "A", change: "added", before: null, after: "1" }]);
  expect(told.cwd?.after).toBe("/tmp");
  expect(told.unknown["functions"]).toMatch(/^the functions of zsh\d* cannot be read/);
  await zsh.remove({ force: true });
});

function waypoint(...args: string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile(process.execPath, [CLI, "--dir", own.stateDir, ...args], (_error, stdout) =>
      resolve(stdout),
    );
  });
}
