import type { FoundPackage, PackageFileFinder } from "./package-file.ts";

const MODULE_FILE = /^(.*)\/go\.mod$/;
const DOWNLOADED = /^(.*)\/pkg\/mod\/cache\/download\/(.+)\/@v\/(v[^/]+)\.zip$/;
const FOREIGN = /\/(?:pkg\/mod|vendor|testdata)\//;

/** What a module requires, and what has been downloaded for all of them. */
export const findGoFile: PackageFileFinder = (rawPath) => {
  const [, goPath, escaped = "", version = ""] = DOWNLOADED.exec(rawPath) ?? [];
  if (goPath !== undefined) {
    const found = {
      name: unescapeModule(escaped),
      version: unescapeModule(version),
      isDependency: true,
    };
    return { manager: "go", environment: goPath || "/", bytesMax: 0, list: () => [found] };
  }
  const [, project] = MODULE_FILE.exec(rawPath) ?? [];
  if (project === undefined || FOREIGN.test(rawPath)) return null;
  return { manager: "go", environment: project || "/", list: listRequired };
};

/** Capital letters have a mark before them, for filesystems that do not tell them apart. */
function unescapeModule(text: string): string {
  return text.replace(/!([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function listRequired(content: Buffer): FoundPackage[] {
  const text = content.toString("utf8");
  if (!/^\s*module\s/m.test(text)) throw new Error("it names no module");
  const found: FoundPackage[] = [];
  let block = "";
  for (const line of text.split("\n")) {
    const [code = "", comment = ""] = line.split("//", 2);
    const words = code.trim().split(/\s+/);
    if (words[0] === ")") block = "";
    else if (words[1] === "(") block = words[0] ?? "";
    else {
      const [name, version] =
        block === "require" ? words : words[0] === "require" ? words.slice(1) : [];
      if (name === undefined || version === undefined) continue;
      const isDependency = comment.trim() === "indirect";
      found.push({ name: name.replace(/^"|"$/g, ""), version, isDependency });
    }
  }
  return found;
}
