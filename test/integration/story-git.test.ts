import { existsSync } from "node:fs";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { GitChange, OperationOutput, Session } from "../../src/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

type Diff = OperationOutput<"diff">;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  // The start-up files of this machine's user may write files of their own.
  session = await own.waypoint.new({ name: "git", net: "none", env: { HOME: "/srv/home" } });
  await run(
    "mkdir -p /srv/home /srv/app; git config --global init.defaultBranch main; " +
      "git config --global user.name 'Ada Lovelace'; git config --global user.email ada@example.com; " +
      "git config --global safe.directory '*'; git config --global protocol.file.allow always",
  );
});

afterAll(async () => {
  await own[Symbol.asyncDispose]();
});

async function run(line: string): Promise<string> {
  const { exitCode, stdout, stderr } = await session.exec(line);
  if (exitCode !== 0) throw new Error(`${line}: ${exitCode}\n${stdout}\n${stderr}`);
  return stdout.trim();
}

/** Runs a line in the session, and returns what it changed. */
async function changesOf(line: string): Promise<Diff> {
  const before = await session.checkpoint();
  await run(line);
  const after = await session.checkpoint();
  const { changes } = await after.show();
  const { from, to, ...diff } = await own.waypoint.diff(before, after);
  expect(diff.git).toEqual(changes.git);
  return { from, to, ...diff };
}

function only({ git, unknown }: Pick<Diff, "git" | "unknown">): GitChange {
  const [repository, ...others] = git ?? [];
  if (repository === undefined || others.length > 0)
    throw new Error(JSON.stringify([git, unknown]));
  return repository;
}

function subjects({ commits }: GitChange): string[] {
  return commits.map(({ subject }) => subject);
}

test("a new repository has no commit, then its first, with author and time", async () => {
  const made = only(await changesOf("cd /srv/app && git init -q && echo one > file && cd /"));
  const startedAtMs = Date.now();
  const told = await changesOf("git -C /srv/app add . && git -C /srv/app commit -qm 'First words'");
  const committed = only(told);
  const id = await run("git -C /srv/app rev-parse HEAD");

  expect(made).toEqual({
    path: "/srv/app",
    branch: { before: null, after: "main" },
    head: { before: null, after: null },
    dirty: { before: null, after: false },
    commits: [],
  });
  expect(committed).toMatchObject({
    branch: { before: "main", after: "main" },
    head: { before: null, after: id },
    dirty: { before: false, after: false },
    commits: [{ id, subject: "First words", author: "Ada Lovelace" }],
  });
  expect(Date.parse(committed.commits[0]?.at ?? "")).toBeGreaterThan(startedAtMs - 2000);
  expect(told.summary).toContain("1 commit");
});

test("commits are told oldest first, and a switch to what was there tells none", async () => {
  await run("cd /srv/app && git branch old");

  const two = only(
    await changesOf('for n in 1 2; do echo $n >> file; git commit -qam "Step $n"; done'),
  );
  const back = await changesOf("git switch -q old");
  const branched = only(
    await changesOf(
      "git switch -qc new && echo x >> file && git commit -qam Own && git switch -q main",
    ),
  );

  expect(subjects(two)).toEqual(["Step 1", "Step 2"]);
  expect(only(back)).toMatchObject({
    branch: { before: "main", after: "old" },
    head: { before: two.head.after, after: two.head.before },
    commits: [],
  });
  expect(back.summary).toContain("on branch old");
  expect(branched).toMatchObject({ branch: { before: "old", after: "main" } });
  expect(subjects(branched)).toEqual(["Own"]);
});

test("dirty is what git says of files that it keeps track of", async () => {
  const asked = "git status --porcelain --untracked-files=no";
  const steps = [
    ...["echo more >> file", "git add file", "git commit -qm Staged", "echo new > untracked"],
    ...["touch file", "chmod +x file", "git checkout -q file", "rm file", "git checkout -q file"],
    ...[
      "git rm -q --cached file",
      "git reset -q",
      "mkdir d && echo 1 > d/in && git add d",
      "git stash -q",
    ],
    ...["ln -s file link && git add link && git commit -qm Link", "ln -sfn other link"],
    ...[
      "git update-index --index-version 4",
      "git checkout -q link",
      "printf 'MORE\\n' > untracked",
    ],
  ];
  for (const step of steps) {
    const before = (await run(asked)) !== "";
    const { git, unknown } = await changesOf(step);
    const after = (await run(asked)) !== "";

    expect({ step, unknown, dirty: git?.[0]?.dirty }).toMatchObject({
      unknown: expect.not.objectContaining({ "whether /srv/app is dirty": expect.anything() }),
      dirty: { before, after },
    });
  }
});

test("a commit that was packed, with packed branches, is read as a loose one", async () => {
  const packed = only(
    await changesOf(
      'for n in $(seq 40); do seq $n 200 > file; git commit -qam "Round $n"; done; ' +
        "git gc -q --aggressive --prune=now; git pack-refs --all",
    ),
  );
  const repacked = only(await changesOf("git repack -qadf --depth=50 --window=50"));

  expect(subjects(packed)).toEqual(Array.from({ length: 40 }, (_, n) => `Round ${n + 1}`));
  expect(packed).toMatchObject({ branch: { after: "main" }, dirty: { after: false } });
  expect(repacked).toMatchObject({ commits: [], head: { after: packed.head.after } });
});

test("a detached head, a linked work tree and a clone are told as what they are", async () => {
  const detached = only(await changesOf("git checkout -q --detach HEAD~1"));
  await run("git checkout -q main");
  const linked = await changesOf(
    "git worktree add -q -b side /srv/side && cd /srv/side && echo s > s",
  );
  const inside = await changesOf("git add s && git commit -qm Side");
  const cloned = await changesOf("cd / && git clone -q /srv/app /srv/clone");
  await run("cd /srv/app");

  expect(detached).toMatchObject({ branch: { before: "main", after: null }, commits: [] });
  expect(linked.git?.map(({ path, branch }) => [path, branch.after])).toEqual([
    ["/srv/side", "side"],
  ]);
  expect(only(inside)).toMatchObject({ path: "/srv/side", branch: { after: "side" } });
  expect(subjects(only(inside))).toEqual(["Side"]);
  expect(cloned.git?.map(({ path }) => path)).toEqual(["/srv/clone"]);
});

test("the repository around the shell is told also when nothing has happened to it", async () => {
  const told = await changesOf("mkdir -p /srv/app/deep && cd /srv/app/deep");
  const outside = await changesOf("cd /");

  expect(only(told)).toMatchObject({ path: "/srv/app", commits: [], dirty: { before: false } });
  expect(told.summary).not.toContain("branch");
  expect(outside.git).toEqual([]);
});

test("nothing that a repository asks for is run, and no link leads out of the session", async () => {
  const bait = `${own.stateDir}/pwned`;
  const program = `/usr/bin/touch ${bait}`;
  const told = await changesOf(
    [
      "mkdir /srv/evil && cd /srv/evil && git init -q && echo a > a && git add a && git commit -qm Evil",
      `for key in core.fsmonitor core.sshCommand core.pager core.editor filter.x.clean diff.external`,
      `do git config $key '${program}'; done; echo '* filter=x' > .gitattributes`,
      `mkdir -p .git/hooks; printf '#!/bin/sh\\n${program}\\n' > .git/hooks/post-index-change`,
      "chmod +x .git/hooks/*; echo /etc > .git/objects/info/alternates; cd /",
    ].join("\n"),
  );
  const linked = await changesOf(
    "mkdir /srv/linked && cd /srv/linked && ln -s ../../../../../../../../etc .git; cd /srv/linked",
  );
  await run("cd /");

  expect(only(told)).toMatchObject({ path: "/srv/evil", branch: { after: "main" } });
  expect(linked.git).toEqual([]);
  expect(existsSync(bait)).toBe(false);
  expect(await run(`ls ${bait} 2>/dev/null || true`)).toBe("");
});

test("subjects and names are told as they are, whatever a terminal would make of them", async () => {
  const told = only(
    await changesOf(
      [
        "cd /srv/app && who='A <a@example.com> 1700000000 +0000'",
        `printf "tree %s\\nparent %s\\nauthor $who\\ncommitter $who\\n\\nRed \\033[31m and \\377\\n\\nbody\\n" \\`,
        "$(git rev-parse HEAD^{tree} HEAD) > /srv/m && git hash-object -t commit -w /srv/m > /srv/id",
        "git update-ref refs/heads/main $(cat /srv/id) && printf 'L\\344nger\\n' > /srv/m",
        "git -c i18n.commitEncoding=iso-8859-1 commit -q --allow-empty -F /srv/m",
      ].join("\n"),
    ),
  );

  expect(subjects(told)).toEqual(["Red \u001b[31m and \ufffd", "Länger"]);
});

test("a damaged repository is unknown with the reason, and the others stand", async () => {
  const told = await changesOf(
    "cp -r /srv/app /srv/broken && echo nonsense > /srv/broken/.git/HEAD; " +
      "git init -q /srv/fine; mkdir -p /srv/odd/.git && mkfifo /srv/odd/.git/HEAD",
  );
  const index = await changesOf("echo broken > /srv/app/.git/index");
  await run("rm /srv/app/.git/index && git reset -q");

  expect(told.git?.map(({ path }) => path)).toEqual(["/srv/app", "/srv/fine"]);
  expect(told.unknown["git in /srv/broken"]).toBe("its HEAD is damaged");
  expect(told.unknown["git in /srv/odd"]).toBe("its HEAD is empty");
  expect(only(index).dirty.after).toBeNull();
  expect(index.unknown["whether /srv/app is dirty"]).toBe("its index is damaged");
});
