import { expect, test } from "vitest";
import type { Changes, GitChange, PackageChange } from "../../../shared/protocol/index.ts";
import { plain } from "../text/style.ts";
import { renderGit } from "./render-git.ts";
import { renderPackages } from "./render-packages.ts";

const REPOSITORY: GitChange = {
  ...{ path: "/srv/app", branch: { before: "main", after: "main" } },
  ...{ head: { before: "aaaaaaaaaa", after: "aaaaaaaaaa" } },
  ...{ dirty: { before: false, after: false }, commits: [] },
};

function lines(git: GitChange[], isBrief = false) {
  return renderGit({ git } as unknown as Changes, { paint: plain, isBrief });
}

test("a repository is told with branch, cleanness and its commits, safe for a terminal", () => {
  const at = "2026-01-01T00:00:00.000Z";
  const commits = [{ id: "bbbbbbbbbb", subject: "Do \u001b[31mit", author: "Ada", at }];
  const changed = { ...REPOSITORY, commits, dirty: { before: false, after: true } };

  expect(lines([{ ...changed, branch: { before: "main", after: "x\u0007" } }])).toEqual([
    "~ git /srv/app  main → x␇, dirty",
    "+ commit bbbbbbbb Do ␛[31mit  Ada",
  ]);
  expect(lines([changed], true)).toEqual(["~ git /srv/app"]);
});

test("new, removed and rewound repositories are told apart, and unchanged ones not at all", () => {
  const none = { before: null, after: null };

  expect(
    lines([
      REPOSITORY,
      { ...REPOSITORY, head: { before: "aaaaaaaaaa", after: "cccccccccc" } },
      { ...REPOSITORY, branch: { ...none, after: "main" }, head: { ...none, after: "dddddddddd" } },
      { ...REPOSITORY, branch: { ...none, before: "main" }, head: { ...none, before: "d" } },
      { ...REPOSITORY, branch: { before: "main", after: null } },
    ]),
  ).toEqual([
    "~ git /srv/app  aaaaaaaa → cccccccc",
    "+ git /srv/app  main",
    "- git /srv/app  main → gone",
    "~ git /srv/app  main → aaaaaaaa",
  ]);
});

test("packages are told with versions, place and why they came", () => {
  const base = { manager: "npm", name: "a\n", path: "/srv" } as const;
  const packages: PackageChange[] = [
    { ...base, change: "installed", before: null, after: "1", dependency: true },
    { ...base, change: "downgraded", before: "2", after: "1" },
    { ...base, manager: "dpkg", change: "removed", before: "1", after: null, path: null },
  ];
  const shown = (isBrief: boolean) =>
    renderPackages({ packages } as unknown as Changes, { paint: plain, isBrief });

  expect(shown(false)).toEqual([
    "+ package npm a␊  1, /srv, dependency",
    "~ package npm a␊  2 → 1, downgraded, /srv",
    "- package dpkg a␊  1",
  ]);
  expect(shown(true)[0]).toBe("+ package npm a␊");
});
