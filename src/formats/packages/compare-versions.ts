/** Parts that come before the release itself, in their order; any other word as well. */
const BEFORE_RELEASE: readonly string[] = ["dev", "a", "alpha", "b", "beta", "c", "pre", "rc"];
/** Parts that come after it. */
const AFTER_RELEASE: ReadonlySet<string> = new Set(["post", "r", "rev", "p", "patch"]);
const RELEASE_RANK = BEFORE_RELEASE.length;

/** Compares versions as dpkg(1) orders them: negative where the first is older. */
export function compareDebianVersions(one: string, other: string): number {
  const [first, second] = [splitDebian(one), splitDebian(other)];
  return (
    first.epoch - second.epoch ||
    compareDebianParts(first.upstream, second.upstream) ||
    compareDebianParts(first.revision, second.revision)
  );
}

/**
 * Compares versions of other package managers: numbers by their value, words such as `rc` before
 * the release they lead to, what follows a plus sign not at all.
 */
export function compareVersions(one: string, other: string): number {
  const [first, second] = [split(one), split(other)];
  const length = Math.max(first.length, second.length);
  for (let index = 0; index < length; index++) {
    const order = comparePart(first[index], second[index]);
    if (order !== 0) return order;
  }
  return 0;
}

function splitDebian(version: string) {
  const colon = version.indexOf(":");
  const rest = version.slice(colon + 1);
  const dash = rest.lastIndexOf("-");
  return {
    epoch: colon === -1 ? 0 : Number(version.slice(0, colon)) || 0,
    upstream: dash === -1 ? rest : rest.slice(0, dash),
    revision: dash === -1 ? "" : rest.slice(dash + 1),
  };
}

/** Text and numbers in turn, as in Debian's policy, 5.6.12. */
function compareDebianParts(one: string, other: string): number {
  const [first, second] = [textsAndNumbers(one), textsAndNumbers(other)];
  const length = Math.max(first.length, second.length);
  for (let index = 0; index < length; index++) {
    const [a, b] = [first[index] ?? "", second[index] ?? ""];
    const order =
      index % 2 === 0 ? compareDebianText(a, b) : compareNumbers(a === "" ? "0" : a, b || "0");
    if (order !== 0) return order;
  }
  return 0;
}

/** Begins with a text, which may be empty. */
function textsAndNumbers(part: string): string[] {
  const found: string[] = part.match(/\D+|\d+/g) ?? [];
  return isNumber(part) ? ["", ...found] : found;
}

function compareDebianText(one: string, other: string): number {
  const length = Math.max(one.length, other.length);
  for (let index = 0; index < length; index++) {
    const order = debianRank(one[index]) - debianRank(other[index]);
    if (order !== 0) return order;
  }
  return 0;
}

/** A tilde sorts before the end, the end before letters, letters before all else. */
function debianRank(character: string | undefined): number {
  if (character === undefined) return 0;
  if (character === "~") return -1;
  const code = character.codePointAt(0) ?? 0;
  return /[a-z]/i.test(character) ? code : code + 256;
}

function split(version: string): string[] {
  const [release = ""] = version
    .toLowerCase()
    .replace(/^v(?=\d)/, "")
    .split("+");
  return release.match(/\d+|[a-z]+/g) ?? [];
}

function comparePart(one: string | undefined, other: string | undefined): number {
  if (isNumber(one ?? "0") && isNumber(other ?? "0"))
    return compareNumbers(one ?? "0", other ?? "0");
  const [first, second] = [rank(one), rank(other)];
  if (first !== second) return first - second;
  return String(one) < String(other) ? -1 : String(one) > String(other) ? 1 : 0;
}

/** Numbers come last, since `1.0.1` is newer than `1.0`. */
function rank(part: string | undefined): number {
  if (part === undefined) return RELEASE_RANK;
  if (isNumber(part)) return RELEASE_RANK + 2;
  if (AFTER_RELEASE.has(part)) return RELEASE_RANK + 1;
  return Math.max(0, BEFORE_RELEASE.indexOf(part));
}

function isNumber(part: string): boolean {
  return /^\d/.test(part);
}

/** Numbers of any length, without losing digits. */
function compareNumbers(one: string, other: string): number {
  const [first, second] = [one.replace(/^0+/, ""), other.replace(/^0+/, "")];
  if (first.length !== second.length) return first.length - second.length;
  return first < second ? -1 : first > second ? 1 : 0;
}
