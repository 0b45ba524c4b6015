import type { FoundPackage, PackageFileFinder } from "./package-file.ts";

const STATUS = /^(.*)\/var\/lib\/dpkg\/(?:status|status\.d\/([^/]+))$/;
const STATUS_BYTES_MAX = 32 * 1024 * 1024;
/** Debian has not as many. */
const ENTRIES_MAX = 100_000;
/** Third word of Status of what is not there, or only as settings. */
const ABSENT: ReadonlySet<string> = new Set(["not-installed", "config-files", "half-installed"]);
/** A field, a continued one, or the end of a stanza. */
const BROKEN_LINE = /^(?![ \t]|[!-9;-~]+:|$)/m;

/** Where apt keeps which packages came because others need them. */
export const EXTENDED_STATES = "/var/lib/apt/extended_states";

/** dpkg's database: one file, or one file for each package as in images without dpkg. */
export const findDpkgFile: PackageFileFinder = (rawPath) => {
  const match = STATUS.exec(rawPath);
  if (match === null || match[2]?.endsWith(".md5sums") === true) return null;
  const isSingle = match[2] !== undefined;
  return {
    manager: "dpkg",
    environment: match[1] || null,
    ...(isSingle ? {} : { bytesMax: STATUS_BYTES_MAX }),
    list: (content) => listStatus(content.toString("utf8"), isSingle),
  };
};

/**
 * Returns the packages, `name:architecture`, that apt installed because others need them.
 *
 * It writes the machine's architecture for those that are for all.
 */
export function listAutomatic(content: Buffer): Set<string> {
  const automatic = stanzas(content.toString("utf8")).filter(
    (stanza) => stanza.get("Auto-Installed") === "1",
  );
  return new Set(automatic.flatMap((each) => [keyOf(each), `${each.get("Package")}:all`]));
}

function listStatus(text: string, isSingle: boolean): FoundPackage[] {
  if (text !== "" && !text.endsWith("\n") && !isSingle) throw new Error("it ends within a line");
  if (text.includes("\0")) throw new Error("it is no text");
  const broken = BROKEN_LINE.exec(text);
  if (broken !== null) throw new Error(`line ${lineAt(text, broken.index)} is no field`);
  return stanzas(text).flatMap((stanza) => {
    const [name, version] = [stanza.get("Package"), stanza.get("Version")];
    const status = stanza.get("Status") ?? (isSingle ? "install ok installed" : undefined);
    if (name === undefined || status === undefined) {
      throw new Error(`the entry of ${name ?? "a package"} is not complete`);
    }
    if (ABSENT.has(status.split(" ")[2] ?? "")) return [];
    if (version === undefined) throw new Error(`the entry of ${name} has no version`);
    return [{ name, version, key: keyOf(stanza) }];
  });
}

function stanzas(text: string): Map<string, string>[] {
  const found: Map<string, string>[] = [];
  let stanza = new Map<string, string>();
  const fields = /^(Package|Status|Version|Architecture|Auto-Installed): *(.*)$|^\n+/gm;
  for (const [, name, value = ""] of text.matchAll(fields)) {
    if (name !== undefined) stanza.set(name, value.trimEnd());
    else if (stanza.size > 0) {
      if (found.length === ENTRIES_MAX) throw new Error(`it has more than ${ENTRIES_MAX} entries`);
      found.push(stanza);
      stanza = new Map();
    }
  }
  return stanza.size > 0 ? [...found, stanza] : found;
}

function keyOf(stanza: ReadonlyMap<string, string>): string {
  return `${stanza.get("Package")}:${stanza.get("Architecture") ?? ""}`;
}

function lineAt(text: string, index: number): number {
  return text.slice(0, index).split("\n").length;
}
