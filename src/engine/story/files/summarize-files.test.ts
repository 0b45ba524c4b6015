import { expect, test } from "vitest";
import type {
  Changes,
  FileChange,
  FileTotals,
  GitChange,
  PackageChange,
} from "../../../shared/protocol/index.ts";
import { nothingKnown } from "../compare-moments.ts";
import { summarizeFiles } from "./summarize-files.ts";

const NONE: FileTotals = { added: 0, modified: 0, deleted: 0, renamed: 0, directories: 0 };

function group(name: string, totals: Partial<FileTotals>): FileChange {
  const whole = { ...NONE, ...totals };
  const files = whole.added + whole.modified + whole.deleted + whole.renamed;
  return {
    ...{ path: `/${name}`, change: "modified", type: "directory", sizeBefore: 0, sizeAfter: 0 },
    ...{ group: name, files, totals: whole },
  };
}

function file(change: FileChange["change"], path: string): FileChange {
  return { path, change, type: "file", sizeBefore: 1, sizeAfter: 1 };
}

function summary(
  totals: Partial<FileTotals>,
  files: FileChange[] = [],
  more: Partial<Changes> = {},
): string {
  const fileTotals = { ...NONE, ...totals };
  const { named, counted } = summarizeFiles({ ...nothingKnown(""), files, fileTotals, ...more });
  return [...named, ...counted].join(", ");
}

test("files without names are counted", () => {
  expect(summary({ added: 3, modified: 12, deleted: 1 })).toBe("+3 ~12 −1 files");
  expect(summary({ added: 1, directories: 4 })).toBe("+1 file");
  expect(summary({ renamed: 1, modified: 1 })).toBe("~1 →1 files");
  expect(summary({ directories: 1 })).toBe("1 directory");
  expect(summary({})).toBe("");
});

test("noise is not told", () => {
  const files = [
    group("git", { modified: 2 }),
    group("node_modules", { added: 1204, directories: 90 }),
    file("modified", "/srv/package-lock.json"),
    file("added", "/srv/.app.js.swp"),
    file("added", "/root/.bash_history"),
    file("modified", "/srv/app.js"),
  ];

  expect(summary({ added: 1206, modified: 4, directories: 91 }, files)).toBe("~ /srv/app.js");
  expect(summary({ modified: 1 }, [file("modified", "/srv/Cargo.lock")])).toBe("");
});

test("what systems, coverage and linters keep, and a new virtual environment, are not named", () => {
  const cwd = { before: "/", after: "/srv" };
  const names = [".DS_Store", ".coverage", ".eslintcache", "v/pyvenv.cfg", "v/bin/Activate.ps1"];
  const files = [...names, "app.py"].map((name) => file("added", `/srv/${name}`));

  expect(summary({ added: 6 }, files, { cwd })).toBe("+ app.py, +2 files");
});

test("many deleted files do not hide what was changed", () => {
  const cwd = { before: "/", after: "/srv" };
  const gone = ["1", "2", "3", "4"].map((name) => file("deleted", `/srv/src_${name}.txt`));
  const changed = file("modified", "/srv/config.json");

  expect(summary({ deleted: 3, modified: 1 }, [...gone.slice(1), changed], { cwd })).toBe(
    "− src_2.txt, − src_3.txt, − src_4.txt, ~1 file",
  );
  expect(summary({ deleted: 4, modified: 1 }, [...gone, changed], { cwd })).toBe(
    "~ config.json, − src_1.txt, − src_2.txt, −2 files",
  );
});

test("up to three files are named by their path in the shell's directory, the rest is counted", () => {
  const cwd = { before: "/", after: "/srv/app" };
  const files = [
    file("added", "/srv/app/notes"),
    file("modified", "/srv/app/config.json"),
    file("deleted", "/srv/app/data/shop.db"),
    file("added", "/srv/app/more"),
    file("modified", "/etc/hosts"),
  ];

  expect(summary({ added: 2, modified: 2, deleted: 1 }, files, { cwd })).toBe(
    "− data/shop.db, ~ config.json, + notes, +1 ~1 files",
  );
  expect(summary({ modified: 1 }, [file("modified", "/etc/hosts")], { cwd })).toBe("~ /etc/hosts");
});

test("a path in a repository is told from its top, a long one by its end", () => {
  const repository = { path: "/home/a/shop", commits: [] } as unknown as GitChange;
  const deep = `/srv/${"deep/".repeat(9)}end.txt`;

  expect(
    summary({ modified: 1 }, [file("modified", "/home/a/shop/src/app.js")], { git: [repository] }),
  ).toBe("~ src/app.js");
  expect(summary({ added: 1 }, [file("added", deep)])).toBe("+ end.txt");
});

test("a rename has both names", () => {
  const renamed = { ...file("renamed", "/srv/new.txt"), from: "/srv/old.txt" };

  expect(summary({ renamed: 1 }, [renamed])).toBe("old.txt → new.txt");
  expect(summary({ renamed: 1 }, [{ ...renamed, path: "/opt/new.txt" }])).toBe(
    "/srv/old.txt → /opt/new.txt",
  );
});

test("what packages bring along, and places of the system, are counted", () => {
  const files = [file("added", "/usr/bin/redis"), file("added", "/etc/redis.conf")];
  const redis = { name: "redis" } as PackageChange;

  expect(summary({ added: 2 }, files)).toBe("+ /etc/redis.conf, +1 file");
  expect(summary({ added: 2 }, files, { packages: [redis] })).toBe("");
});

test("nothing is told of files that are unknown", () => {
  expect(summarizeFiles(nothingKnown("broken"))).toEqual({ named: [], counted: [] });
});

test("a directory that went stands for its many files, and others are named beside it", () => {
  const cwd = { before: "/srv", after: "/srv" };
  const gone = ["a", "b", "c", "d"].map((name) => file("deleted", `/srv/lib/${name}.js`));
  const directory: FileChange = { ...file("deleted", "/srv/lib"), type: "directory" };
  const files = [directory, ...gone, file("modified", "/srv/app.js")];

  expect(summary({ deleted: 4, modified: 1, directories: 1 }, files, { cwd })).toBe(
    "− lib/, ~ app.js, −4 files",
  );
  expect(summary({ deleted: 3 }, [directory, ...gone.slice(1)], { cwd })).toMatch(/^− lib\/b\.js/);
});

test("a repository that came is named, not its files; one that the shell stands in is told by them", () => {
  const files: FileChange[] = [
    { ...file("added", "/srv/copy"), type: "directory" },
    file("added", "/srv/copy/f"),
  ];
  const git: GitChange[] = [
    {
      path: "/srv/copy",
      branch: { before: null, after: "main" },
      head: { before: null, after: "abc" },
      dirty: { before: null, after: false },
      commits: [],
    },
  ];
  const at = (shell: string) => ({ git, cwd: { before: shell, after: shell } });

  expect(summary({ added: 1, directories: 1 }, files, at("/srv"))).toBe("+ copy/, +1 file");
  expect(summary({ added: 1, directories: 1 }, files, at("/srv/copy"))).toBe("+ f");
});
