import { type ChildProcess, execFile, spawn } from "node:child_process";
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";
import { pollUntil } from "../../src/base/index.ts";
import { findCriu } from "../../src/linux/host/index.ts";
import { NotMeasured } from "../measuring/not-measured.ts";
import { findPeer, peersEnvironment } from "../peers/peers-dir.ts";
import type { Computer } from "../programs/program.ts";

const run = promisify(execFile);
const PACKAGE_ROOT = path.resolve(import.meta.dirname, "../..");
const OUTPUT_BYTES_MAX = 64 * 1024 * 1024;
const START_TIMEOUT_MS = 10_000;

/**
 * Makes `$1` the place of podman's world: a tmpfs on /run, without which CRIU probes the kernel
 * each time; podman's files in /etc, which CRIU may also be told there to lock no network: the
 * container has none, and Waypoint does without as well.
 */
const ENTER = `W=$1; mount -t tmpfs tmpfs /run; mkdir -p /run/lock
mount -t overlay overlay -o "lowerdir=/etc,upperdir=$W/etc,workdir=$W/etc-work" /etc
mount -t tmpfs tmpfs /dev/shm
mkdir -p /etc/containers /etc/criu
echo '{"default":[{"type":"insecureAcceptAnything"}]}' >/etc/containers/policy.json
echo 'network-lock skip' >/etc/criu/runc.conf
touch "$W/entered"; exec sleep infinity`;

/** Asks for no limits that only CAP_SYS_RESOURCE may set, which many virtual machines lack. */
const RUNC_WITHOUT_LIMITS = `#!/bin/sh
previous=
for word in "$@"; do
  case $previous in
    --bundle) sed -i 's/,"rlimits":\\[[^]]*\\]//' "$word/config.json" ;;
    --process) sed -i 's/,"rlimits":\\[[^]]*\\]//' "$word" ;;
  esac
  previous=$word
done
`;

/** Podman with the CRIU that Waypoint uses, in a mount namespace that takes all of it along. */
export class PodmanWorld implements AsyncDisposable {
  readonly directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-podman-"));
  readonly #cgroup = `/waypoint-bench-${process.pid}`;
  #keeper: ChildProcess | undefined;

  private constructor() {
    for (const name of ["etc", "etc-work", "bin", "storage"]) {
      mkdirSync(path.join(this.directory, name));
    }
  }

  /** @throws NotMeasured  podman or runc is not there. */
  static async open(): Promise<PodmanWorld> {
    for (const name of ["podman", "runc", "conmon"]) {
      if (findPeer(name) === undefined) {
        throw new NotMeasured(`${name} is not installed (\`npm run bench -- --install-peers\`)`);
      }
    }
    const world = new PodmanWorld();
    try {
      await world.#prepare();
      return world;
    } catch (error) {
      await world[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** Runs podman and returns what it printed. */
  async podman(words: readonly string[], input?: Buffer): Promise<string> {
    const { directory } = this;
    const places = ["--root", `${directory}/storage`, "--runroot", "/run/podman-root"];
    const options = [...places, "--tmpdir", "/run/podman-tmp", "--storage-driver", "overlay"];
    const enter = [`--mount=/proc/${this.#keeper?.pid}/ns/mnt`, "--"];
    const podman = findPeer("podman") ?? "podman";
    const promise = run("nsenter", [...enter, podman, ...options, ...words], {
      env: this.#environment(),
      maxBuffer: OUTPUT_BYTES_MAX,
    });
    promise.child.stdin?.end(input);
    return (await promise).stdout.trim();
  }

  /** Starts a container without a network and returns its name. */
  async start(name: string, image: readonly string[], command: readonly string[]): Promise<void> {
    const options = ["--network", "none", "--cgroup-parent", this.#cgroup];
    await this.podman(["run", "--detach", "--name", name, ...options, ...image, ...command]);
  }

  computer(name: string): Computer {
    return {
      shell: async (line) => {
        const shell = ["exec", name, "sh", "-c", line];
        return await this.podman(shell).then(
          () => 0,
          () => 1,
        );
      },
      write: async (file, content) => {
        await this.podman(["exec", "-i", name, "sh", "-c", `cat >'${file}'`], content);
      },
    };
  }

  async initOf(name: string): Promise<number> {
    return Number(await this.podman(["inspect", "--format", "{{.State.Pid}}", name]));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.podman(["rm", "--all", "--force", "--time", "0"]).catch(() => {});
    this.#keeper?.kill("SIGKILL");
    const groups = ["/sys/fs/cgroup", "-depth", "-type", "d", "-path", `*${this.#cgroup}*`];
    await run("find", [...groups, "-exec", "rmdir", "{}", ";"]).catch(() => {});
    rmSync(this.directory, { recursive: true, force: true, maxRetries: 5, retryDelay: 200 });
  }

  async #prepare(): Promise<void> {
    const { argv, env } = await findCriu({ packageRoot: PACKAGE_ROOT });
    const variables = Object.entries({ ...env, LD_LIBRARY_PATH: "" });
    const exported = variables.map(([name, value]) => `export ${name}='${value}'\n`).join("");
    this.#program("criu", `#!/bin/sh\n${exported}exec ${argv.join(" ")} "$@"\n`);
    this.#program("runc-bench", `${RUNC_WITHOUT_LIMITS}exec '${findPeer("runc")}' "$@"\n`);
    const settings = [
      "[engine]",
      `conmon_path=["${findPeer("conmon")}"]`,
      ...['cgroup_manager="cgroupfs"', 'events_logger="none"', 'runtime="runc-bench"'],
      "[engine.runtimes]",
      `runc-bench=["${this.directory}/bin/runc-bench"]`,
    ];
    writeFileSync(path.join(this.directory, "containers.conf"), `${settings.join("\n")}\n`);
    const enter = ["--mount", "--propagation", "private", "--", "sh", "-ec", ENTER, "sh"];
    const keeper = spawn("unshare", [...enter, this.directory], { stdio: "ignore" });
    this.#keeper = keeper;
    await pollUntil("podman's namespace", { timeoutMs: START_TIMEOUT_MS }, async () => {
      if (keeper.exitCode !== null) throw new NotMeasured("podman's mounts cannot be made");
      return await run("test", ["-e", path.join(this.directory, "entered")]).then(
        () => true as const,
        () => undefined,
      );
    });
  }

  #program(name: string, text: string): void {
    const file = path.join(this.directory, "bin", name);
    writeFileSync(file, text);
    chmodSync(file, 0o755);
  }

  #environment(): NodeJS.ProcessEnv {
    const { PATH, ...libraries } = peersEnvironment();
    const conf = path.join(this.directory, "containers.conf");
    return {
      ...process.env,
      ...libraries,
      PATH: `${this.directory}/bin:${PATH}`,
      CONTAINERS_CONF: conf,
    };
  }
}
