import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import path from "node:path";
import { findDebianUris } from "./apt-sources.mjs";
import { CRIU_VERSION_MIN, criuArgv, isVersionAtLeast } from "./criu-record.mjs";
import { readCriuVersion, requireCriuCheck } from "./criu-version.mjs";
import { runTool } from "./run-tool.mjs";
import { SetupError } from "./setup-error.mjs";

/** Debian suites whose CRIU is new enough, in the order in which they are tried. */
const SUITES = ["forky", "trixie", "sid"];

const DEBIAN_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";
const DEBIAN_ARCH = { x64: "amd64", arm64: "arm64" };
const DOWNLOAD_TIMEOUT_MS = 10 * 60_000;
const UNPACK_PARALLEL_MAX = 4;

/**
 * Brings a CRIU of a newer Debian suite into `.tools/criu/`, beside the system and never into it.
 *
 * apt downloads it with a state directory of its own and verifies signatures and hashes against
 * Debian's keyring; the address is the one that this machine uses for Debian.
 *
 * **Requires** the set-up's lock, apt-get and dpkg.
 * **On success** returns the record of a CRIU that was seen to run.
 * **On failure** nothing is installed.
 *
 * @throws SETUP_FAILED  no Debian address is configured, or no suite gave a CRIU that works.
 */
export async function installPrivateCriu(context) {
  const kept = await findUnpacked(context.tools);
  if (kept !== null) return kept;
  const uris = findDebianUris(context.aptDir);
  if (uris.length === 0) throw noDebianSource(context.aptDir);
  const failures = [];
  for (const suite of SUITES) {
    for (const uri of uris) {
      try {
        return await installFromSuite(context, { suite, uri });
      } catch (error) {
        if (context.signal?.aborted || !(error instanceof SetupError)) throw error;
        failures.push(`${suite}: ${reasonOf(error)}`);
      }
    }
  }
  throw new SetupError("SETUP_FAILED", "No CRIU that works could be downloaded from Debian.", {
    output: failures.join("\n"),
    hint: "Check the network and `apt-get update`, or install CRIU 4.1 or newer yourself; then run the set-up again.",
  });
}

/** Returns the CRIU of an earlier set-up, if it works with the kernel that runs now. */
async function findUnpacked(tools) {
  const criuDir = tools.at("criu");
  const names = existsSync(criuDir) ? readdirSync(criuDir) : [];
  for (const name of names.sort().reverse()) {
    try {
      const version = await checkUnpacked(path.join(criuDir, name), name);
      return { origin: "private", version, prefix: path.join("criu", name) };
    } catch (error) {
      if (!(error instanceof SetupError)) throw error;
    }
  }
  return null;
}

async function installFromSuite(context, { suite, uri }) {
  const aptDir = context.tools.makeTmpDir("apt");
  const prefix = context.tools.makeTmpDir("criu");
  const configPath = writePrivateAptState(aptDir, { suite, uri });
  const packagePaths = await downloadPackages(context, { aptDir, configPath });
  await unpackPackages(context, { packagePaths, prefix });
  const version = await checkUnpacked(prefix, `Debian ${suite}`);
  const name = path.join("criu", version);
  context.tools.install(prefix, name);
  return { origin: "private", version, prefix: name };
}

/** Writes a configuration under which apt knows one source and no installed package. */
function writePrivateAptState(aptDir, { suite, uri }) {
  mkdirSync(path.join(aptDir, "lists/partial"), { recursive: true });
  mkdirSync(path.join(aptDir, "cache/archives/partial"), { recursive: true });
  // No installed package: so apt downloads the C library and everything else that CRIU needs.
  writeFileSync(path.join(aptDir, "status"), "");
  const source = {
    Types: "deb",
    URIs: uri,
    Suites: suite,
    Components: "main",
    "Signed-By": DEBIAN_KEYRING,
  };
  const sourcesPath = path.join(aptDir, "debian.sources");
  writeFileSync(sourcesPath, lines(Object.entries(source).map(([name, v]) => `${name}: ${v}`)));
  const settings = {
    "Dir::Etc::sourcelist": sourcesPath,
    "Dir::Etc::sourceparts": "-",
    "Dir::Etc::preferences": "-",
    "Dir::Etc::preferencesparts": "-",
    "Dir::State": aptDir,
    "Dir::State::lists": path.join(aptDir, "lists"),
    "Dir::State::status": path.join(aptDir, "status"),
    "Dir::Cache": path.join(aptDir, "cache"),
    "Dir::Cache::pkgcache": "",
    "Dir::Cache::srcpkgcache": "",
    "Acquire::Languages": "none",
    "Acquire::Retries": "2",
    "APT::Install-Recommends": "false",
    "APT::Default-Release": "",
    "APT::Architectures::": DEBIAN_ARCH[process.arch] ?? "",
  };
  const configPath = path.join(aptDir, "apt.conf");
  // The machine's hooks (package indexes of desktops, cache cleaners) have no business here; its
  // proxy and certificate settings stay in force.
  const hooks = ["APT::Update::Pre-Invoke", "APT::Update::Post-Invoke"];
  const cleared = [...hooks, "APT::Update::Post-Invoke-Success", "APT::Architectures"];
  writeFileSync(
    configPath,
    lines([
      ...cleared.map((name) => `#clear ${name};`),
      ...Object.entries(settings).map(([name, value]) => `${name} "${value}";`),
    ]),
  );
  return configPath;
}

async function downloadPackages(context, { aptDir, configPath }) {
  const options = {
    env: { ...process.env, LC_ALL: "C", DEBIAN_FRONTEND: "noninteractive" },
    signal: context.signal,
    timeoutMs: DOWNLOAD_TIMEOUT_MS,
  };
  // Without this an unreachable or badly signed source is a mere warning.
  const strict = "APT::Update::Error-Mode=any";
  await runTool(["apt-get", "-c", configPath, "-q", "-o", strict, "update"], options);
  const install = ["install", "-y", "--download-only", "--no-install-recommends", "criu"];
  await runTool(["apt-get", "-c", configPath, "-q", ...install], options);
  const archivesDir = path.join(aptDir, "cache/archives");
  const names = readdirSync(archivesDir).filter((name) => name.endsWith(".deb"));
  return names.map((name) => path.join(archivesDir, name));
}

async function unpackPackages(context, { packagePaths, prefix }) {
  const queue = [...packagePaths];
  const worker = async () => {
    for (let next = queue.pop(); next !== undefined; next = queue.pop()) {
      await runTool(["dpkg", "-x", next, prefix], { signal: context.signal });
    }
  };
  await Promise.all(Array.from({ length: UNPACK_PARALLEL_MAX }, worker));
}

async function checkUnpacked(prefix, origin) {
  const argv = criuArgv({ origin: "private", prefix });
  const version = existsSync(argv[0]) ? await readCriuVersion(argv) : null;
  if (version === null || !isVersionAtLeast(version, CRIU_VERSION_MIN)) {
    throw new SetupError("SETUP_FAILED", `The CRIU of ${origin} does not run here.`);
  }
  await requireCriuCheck(argv);
  return version;
}

/** Returns what apt or CRIU calls an error; around it there is much that is not. */
function reasonOf(error) {
  const line = error.output.split("\n").find((text) => /^(E: |Error)/.test(text));
  return line?.replace(/^E: /, "") ?? error.message;
}

function noDebianSource(aptDir) {
  return new SetupError("SETUP_FAILED", `No source of Debian's main archive is set in ${aptDir}.`, {
    hint: "Install CRIU 4.1 or newer from your distribution, then run the set-up again.",
  });
}

function lines(list) {
  return `${list.join("\n")}\n`;
}
