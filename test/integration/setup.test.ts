import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

const ROOT = path.resolve(import.meta.dirname, "../..");

/** A copy of the package without sources: what a registry would deliver, nothing installed yet. */
let copy: string;

beforeEach(() => {
  copy = mkdtempSync(path.join(tmpdir(), "waypoint-setup-"));
  chmodSync(copy, 0o755);
  for (const name of ["bin", "native", "scripts", "toolchain", "package.json"]) {
    cpSync(path.join(ROOT, name), path.join(copy, name), { recursive: true });
  }
});
afterEach(() => rmSync(copy, { recursive: true, force: true }));

interface Outcome {
  status: number | null;
  stdout: string;
  stderr: string;
}

function bootstrap(args: readonly string[], env: Record<string, string> = {}): Outcome {
  return run([process.execPath, path.join(copy, "scripts/bootstrap.mjs"), ...args], env);
}

function run(argv: readonly [string, ...string[]], env: Record<string, string> = {}): Outcome {
  return spawnSync(argv[0], argv.slice(1), {
    encoding: "utf8",
    env: { ...process.env, WAYPOINT_NODE: "", ...env },
    timeout: 100_000,
  });
}

/** Makes the set-up see a CRIU that is too old, and the given source of Debian packages. */
function withAptSource(uri: string): Record<string, string> {
  const aptDir = path.join(copy, "apt");
  const binDir = path.join(copy, "old-criu");
  mkdirSync(aptDir);
  mkdirSync(binDir);
  writeFileSync(path.join(aptDir, "sources.list"), `deb ${uri} bookworm main\n`);
  writeFileSync(path.join(binDir, "criu"), "#!/bin/sh\necho Version: 3.17.1\n", { mode: 0o755 });
  return { WAYPOINT_APT_DIR: aptDir, PATH: `${binDir}:${process.env["PATH"]}` };
}

/** Gives the copy what this checkout has, so that nothing is downloaded or compiled. */
function borrowTools(): void {
  for (const name of ["criu", "criu.json", "native"]) {
    const from = path.join(ROOT, ".tools", name);
    if (!existsSync(from)) continue;
    cpSync(from, path.join(copy, ".tools", name), { recursive: true, verbatimSymlinks: true });
  }
}

function installed(): string[] {
  const toolsDir = path.join(copy, ".tools");
  return existsSync(toolsDir) ? readdirSync(toolsDir).filter((name) => name !== "setup.lock") : [];
}

describe("the set-up", () => {
  test("a second run changes nothing and takes less than a second", () => {
    borrowTools();
    const first = bootstrap(["setup", "--json"]);
    const before = installed();

    const runs = Array.from({ length: 5 }, () => {
      const startedAtMs = performance.now();
      const { stdout } = bootstrap(["setup", "--json"]);
      return { stdout, tookMs: performance.now() - startedAtMs };
    });
    const second = runs[0] ?? { stdout: "" };

    expect(first).toMatchObject({ status: 0, stderr: "" });
    const { ok, steps } = JSON.parse(second.stdout);
    expect(ok).toBe(true);
    expect(steps.filter((step: { changed: boolean }) => step.changed)).toEqual([]);
    expect(installed()).toEqual(before);
    // The quickest one: the others tell what else the machine does.
    expect(Math.min(...runs.map(({ tookMs }) => tookMs))).toBeLessThan(1000);
  });

  test("two at once come to the same end, one after the other", async () => {
    borrowTools();
    const argv = [path.join(copy, "scripts/bootstrap.mjs"), "setup", "node", "criu"];
    const both = [1, 2].map(() => spawn(process.execPath, argv, { stdio: "ignore" }));

    const codes = await Promise.all(both.map(async (child) => (await once(child, "exit"))[0]));

    expect(codes).toEqual([0, 0]);
    expect(installed()).not.toContain("tmp");
  });

  test("a user who is not root is told how to go on", () => {
    // A user without rights may not reach the directory of the Node that runs this test.
    const node = ["/usr/bin/node", "/usr/local/bin/node"].find(existsSync) ?? process.execPath;
    const asNobody = ["setpriv", "--reuid", "65534", "--clear-groups", "--"] as const;

    const outcome = run([...asNobody, node, path.join(copy, "scripts/bootstrap.mjs"), "setup"]);

    expect(outcome.status).toBe(20);
    expect(outcome.stderr).toMatch(/root: uid 65534/);
    expect(outcome.stderr).toMatch(/^Hint: .*sudo/m);
    expect(installed()).toEqual([]);
  });
});

describe("a private CRIU that cannot be had", () => {
  test("a repository that nobody signed leaves nothing behind", () => {
    const repository = path.join(copy, "repository");
    for (const suite of ["forky", "trixie", "sid"]) {
      const suiteDir = path.join(repository, "dists", suite);
      mkdirSync(path.join(suiteDir, "main/binary-amd64"), { recursive: true });
      writeFileSync(path.join(suiteDir, "Release"), `Suite: ${suite}\nComponents: main\n`);
    }

    const outcome = bootstrap(["setup", "criu"], withAptSource(`file:${repository}`));

    expect(outcome.status).toBe(20);
    expect(outcome.stderr).toMatch(/forky: The repository .* is not signed/);
    expect(outcome.stderr).toMatch(/^Hint: /m);
    expect(installed()).toEqual([]);
  });

  test("no source of Debian gives SETUP_FAILED and says what to do", () => {
    const outcome = bootstrap(["setup", "criu", "--json"], withAptSource("cdrom:[Debian]/"));

    expect(outcome.status).toBe(20);
    const { error } = JSON.parse(outcome.stderr);
    expect(error.code).toBe("SETUP_FAILED");
    expect(error.hint).toMatch(/Install CRIU/);
    expect(installed()).toEqual([]);
  });

  test("a set-up killed during the download is cleaned up by the next one", async () => {
    await using server = await startSilentServer();
    const env = withAptSource(`http://127.0.0.1:${server.port}/debian`);
    const child = spawn(
      process.execPath,
      [path.join(copy, "scripts/bootstrap.mjs"), "setup", "criu"],
      { stdio: "ignore", env: { ...process.env, ...env } },
    );
    await server.connected;
    const halfWay = installed();

    await kill(child);
    borrowTools();
    const next = bootstrap(["setup", "node"]);

    expect(halfWay).toEqual(["tmp"]);
    expect(next.status).toBe(0);
    expect(installed()).not.toContain("tmp");
  });
});

describe("bin/waypoint", () => {
  beforeEach(() => {
    mkdirSync(path.join(copy, "dist"));
    writeFileSync(
      path.join(copy, "dist/cli.cjs"),
      "console.log(JSON.stringify([__filename, ...process.argv.slice(2)]));",
    );
  });

  test("links to it, to its folder and to links lead to the package", () => {
    const cli = path.join(copy, "dist/cli.cjs");
    const linkDir = path.join(copy, "elsewhere");
    mkdirSync(linkDir);
    symlinkSync("../bin/waypoint", path.join(linkDir, "relative"));
    symlinkSync("relative", path.join(linkDir, "twice"));
    symlinkSync(path.join(copy, "bin"), path.join(linkDir, "bin"));

    const env = { WAYPOINT_NODE: process.execPath };
    const starts = ["elsewhere/relative", "elsewhere/twice", "elsewhere/bin/waypoint"];
    const seen = ["bin/waypoint", ...starts].map((name) =>
      JSON.parse(run([path.join(copy, name), "a b", ""], env).stdout),
    );

    expect(seen).toEqual(seen.map(() => [cli, "a b", ""]));
  });

  test("without a build it names the command that helps", () => {
    rmSync(path.join(copy, "dist"), { recursive: true });

    const outcome = run([path.join(copy, "bin/waypoint"), "ls"]);

    expect(outcome.status).toBe(20);
    expect(outcome.stderr).toMatch(/^Error: Waypoint is not set up .*\nHint: .*waypoint setup/);
  });

  test("without a build doctor says what is missing and installs nothing", () => {
    rmSync(path.join(copy, "dist"), { recursive: true });

    const outcome = run([path.join(copy, "bin/waypoint"), "doctor", "--json"]);

    expect(outcome.status).toBe(20);
    const { checks } = JSON.parse(outcome.stdout) as { checks: { id: string; ok: boolean }[] };
    expect(checks).toContainEqual(expect.objectContaining({ id: "criu", ok: false }));
    expect(installed()).toEqual([]);
  });
});

test("continuous integration runs npm test and nothing else", () => {
  const lines = readFileSync(path.join(ROOT, ".ci/run"), "utf8").trim().split("\n");

  expect(lines.filter((line) => /npm|node/.test(line))).toEqual(["npm test"]);
});

async function kill(child: ChildProcess): Promise<void> {
  const exited = once(child, "exit");
  child.kill("SIGKILL");
  await exited;
}

/** Starts a server that takes connections and never answers. */
async function startSilentServer() {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => sockets.add(socket.on("error", () => {})));
  const connected = once(server, "connection");
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    port: (server.address() as AddressInfo).port,
    connected,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
