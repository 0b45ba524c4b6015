import { execFile } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** What a Debian root needs at least to be worked in; nothing of its packages is configured. */
const DEBIAN_PACKAGES = [
  ...["bash", "dash", "libc6", "libtinfo6", "coreutils", "libselinux1", "libpcre2-8-0"],
  ...["libacl1", "libattr1", "libgmp10", "grep", "base-passwd"],
];

const OUTPUT_BYTES_MAX = 16 * 1024 ** 2;
/** zsh, fish and what they need; for `makeDebian`. */
export const SHELL_PACKAGES = [
  ...["zsh", "zsh-common", "libcap2", "fish", "fish-common", "libpcre2-32-0", "libstdc++6"],
  ...["libgcc-s1", "libncursesw6", "ncurses-base", "procps", "libproc2-0", "base-files"],
];

/** A directory for bases of a test's own; disposing of it removes them. */
export class TestBases implements Disposable {
  readonly #directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-bases-"));
  #newLists: Promise<string[]> | null = null;

  constructor() {
    chmodSync(this.#directory, 0o755);
  }

  [Symbol.dispose](): void {
    rmSync(this.#directory, { recursive: true, force: true });
  }

  /** Returns the path of a base's directory. */
  path(...parts: string[]): string {
    return path.join(this.#directory, ...parts);
  }

  /** Makes a root of busybox and its links: no bash, no libc, no file besides. */
  async makeBusybox(name: string): Promise<string> {
    await this.#unpack(`${name}.packages`, ["busybox-static"]);
    const binDir = this.path(name, "bin");
    mkdirSync(binDir, { recursive: true, mode: 0o755 });
    const program = path.join(binDir, "busybox");
    copyFileSync(this.#programOf(`${name}.packages`), program);
    const { stdout } = await run(program, ["--list"]);
    const names = stdout.split("\n").filter((applet) => applet !== "" && applet !== "busybox");
    for (const applet of names) symlinkSync("busybox", path.join(binDir, applet));
    return this.path(name);
  }

  /** Makes a small Debian root out of unpacked packages. */
  async makeDebian(name: string, more: readonly string[] = []): Promise<string> {
    await this.#unpack(name, [...DEBIAN_PACKAGES, ...more]);
    chmodSync(this.path(name), 0o755);
    return this.path(name);
  }

  /**
   * Makes a whole small Debian with debootstrap, from where this machine has its own packages from.
   * debootstrap itself is only unpacked: nothing is installed here.
   */
  async makeDebootstrapped(name: string): Promise<string> {
    const tool = `${name}.debootstrap`;
    await this.#unpack(tool, ["debootstrap"]);
    const { suite, address } = await this.#packageSource();
    const program = this.path(tool, "usr", "sbin", "debootstrap");
    const env = {
      ...process.env,
      DEBOOTSTRAP_DIR: this.path(tool, "usr", "share", "debootstrap"),
    };
    const words = ["--variant=minbase", suite, this.path(name), address];
    await run("sh", [program, ...words], { env, maxBuffer: OUTPUT_BYTES_MAX });
    chmodSync(this.path(name), 0o755);
    return this.path(name);
  }

  #programOf(packages: string): string {
    const places = ["bin", "usr/bin"].map((place) => this.path(packages, place));
    const place = places.find((dir) => readdirOrNothing(dir).includes("busybox"));
    return path.join(place ?? "", "busybox");
  }

  async #unpack(name: string, packages: readonly string[]): Promise<void> {
    const target = this.path(name);
    const archives = this.path(`${name}.archives`);
    mkdirSync(target, { recursive: true });
    mkdirSync(archives);
    await this.#download(packages, archives);
    for (const archive of readdirSync(archives)) {
      await run("dpkg", ["-x", path.join(archives, archive), target]);
    }
    rmSync(archives, { recursive: true });
  }

  async #download(packages: readonly string[], into: string): Promise<void> {
    const words = ["download", ...packages];
    await apt(words, into).catch(async () => {
      this.#newLists ??= this.#getLists();
      await apt([...(await this.#newLists), ...words], into);
    });
  }

  /** Returns options for lists of our own: the machine's may be missing, or name what is gone. */
  async #getLists(): Promise<string[]> {
    const lists = this.path("apt-lists");
    mkdirSync(path.join(lists, "partial"), { recursive: true });
    const caches = ["-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache="];
    const options = ["-o", `Dir::State::Lists=${lists}`, ...caches];
    await apt([...options, "update"], lists);
    return options;
  }

  /** Returns the suite and the address that apt has Debian itself from, not its updates. */
  async #packageSource(): Promise<{ suite: string; address: string }> {
    const fields = ["CREATED_BY", "LABEL", "COMPONENT", "RELEASE", "REPO_URI"];
    const format = fields.map((field) => `$(${field})`).join("|");
    const options = (await this.#newLists) ?? [];
    const { stdout } = await apt([...options, "indextargets", "--format", format], "/");
    const found = /^Packages\|Debian\|main\|([a-z]+)\|(\S+)$/m.exec(stdout);
    if (found === null) throw new Error(`apt has no source of Debian:\n${stdout}`);
    return { suite: found[1] ?? "", address: found[2] ?? "" };
  }
}

function apt(words: readonly string[], cwd: string) {
  return run("apt-get", ["-o", "APT::Sandbox::User=root", "-q", ...words], { cwd });
}

function readdirOrNothing(directory: string): string[] {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
