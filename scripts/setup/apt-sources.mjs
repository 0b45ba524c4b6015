import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";

/**
 * One package source as apt has it configured.
 * @typedef {{ uri: string, suites: string[], components: string[], signedBy: string | null }} Source
 */

/** The release names that Debian's main archive has, and the roles that stand for them. */
const DEBIAN_SUITE =
  /^(stable|oldstable|testing|unstable|sid|bullseye|bookworm|trixie|forky|duke)(-updates)?$/;

/**
 * Returns the addresses of Debian's main archive as configured on this machine, best first.
 *
 * Security archives, third-party archives and removable media are left out: the private CRIU comes
 * from the address that the administrator chose for Debian itself, and from no other.
 *
 * @param {string} aptDir usually /etc/apt
 * @returns {string[]}
 */
export function findDebianUris(aptDir) {
  const ranked = readAptSources(aptDir)
    .map((source) => ({ uri: source.uri, rank: rankAsDebianMain(source) }))
    .filter(({ rank }) => rank > 0)
    .sort((a, b) => b.rank - a.rank);
  return [...new Set(ranked.map(({ uri }) => uri))];
}

/** Reads every source file below `aptDir`, in both of apt's formats. */
export function readAptSources(aptDir) {
  const partsDir = path.join(aptDir, "sources.list.d");
  const parts = existsSync(partsDir) ? readdirSync(partsDir).sort() : [];
  const files = ["sources.list", ...parts.map((name) => path.join("sources.list.d", name))];
  return files.flatMap((name) => {
    const file = path.join(aptDir, name);
    if (!existsSync(file)) return [];
    if (name.endsWith(".sources")) return parseDeb822Sources(readFileSync(file, "utf8"));
    if (name.endsWith(".list")) return parseOneLineSources(readFileSync(file, "utf8"));
    return [];
  });
}

/**
 * Parses the one-line format: `deb [option=value …] URI SUITE COMPONENT…`.
 * @param {string} text
 * @returns {Source[]}
 */
export function parseOneLineSources(text) {
  const sources = [];
  for (const line of text.split("\n")) {
    const match = /^\s*deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)([^#]*)/.exec(line);
    if (match === null) continue;
    const [, options = "", uri, suite, components] = match;
    const signedBy = /(?:^|\s)signed-by=(\S+)/i.exec(options)?.[1] ?? null;
    sources.push({ uri, suites: [suite], components: words(components), signedBy });
  }
  return sources;
}

/**
 * Parses the deb822 format: paragraphs of `Field: value`, with continuation lines.
 * @param {string} text
 * @returns {Source[]}
 */
export function parseDeb822Sources(text) {
  const sources = [];
  for (const paragraph of withoutComments(text).split(/\n\s*\n/)) {
    const fields = parseFields(paragraph);
    const isEnabled = !/^(no|false|0|off|disable)$/i.test(fields.get("enabled") ?? "yes");
    if (!isEnabled || !words(fields.get("types") ?? "").includes("deb")) continue;
    for (const uri of words(fields.get("uris") ?? "")) {
      sources.push({
        uri,
        suites: words(fields.get("suites") ?? ""),
        components: words(fields.get("components") ?? ""),
        signedBy: fields.get("signed-by") ?? null,
      });
    }
  }
  return sources;
}

/** Returns 0 for anything but Debian's main archive; more means a surer sign of it. */
function rankAsDebianMain(source) {
  if (/^(cdrom|copy):/.test(source.uri)) return 0;
  if (!source.components.includes("main")) return 0;
  if (!source.suites.some((suite) => DEBIAN_SUITE.test(suite))) return 0;
  if (source.signedBy !== null) return /debian-archive-/.test(source.signedBy) ? 3 : 0;
  // Without Signed-By any trusted key is accepted for it, so its address has to speak for it.
  return /\/debian\/?$/.test(source.uri) ? 2 : 1;
}

function withoutComments(text) {
  return text
    .split("\n")
    .filter((line) => !line.startsWith("#"))
    .join("\n");
}

function parseFields(paragraph) {
  const fields = new Map();
  let name = "";
  for (const line of paragraph.split("\n")) {
    const start = /^([A-Za-z-]+):\s*(.*)$/.exec(line);
    if (start !== null) {
      name = start[1].toLowerCase();
      fields.set(name, start[2].trim());
    } else if (name !== "" && /^\s/.test(line)) {
      fields.set(name, `${fields.get(name)} ${line.trim()}`.trim());
    }
  }
  return fields;
}

function words(text) {
  return text.split(/\s+/).filter((word) => word !== "");
}
