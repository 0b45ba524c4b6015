import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import path from "node:path";

/**
 * The directory `.tools` of one checkout: everything that the set-up brings lies in it.
 *
 * Things are made below `.tools/tmp` and renamed into place, so that whatever has its final name
 * is whole. A set-up that was killed leaves at most `.tools/tmp`, which the next one removes.
 */
export class ToolsDir {
  /** @param {string} packageRoot */
  constructor(packageRoot) {
    this.path = path.join(packageRoot, ".tools");
    this.tmpPath = path.join(this.path, "tmp");
  }

  /** @param {string[]} parts */
  at(...parts) {
    return path.join(this.path, ...parts);
  }

  /** Tells whether an earlier set-up was killed half-way. */
  hasLeftovers() {
    return existsSync(this.tmpPath);
  }

  /** Removes what a killed set-up left. Requires the set-up's lock. */
  removeLeftovers() {
    // What a set-up that was killed just now had started may be writing its last file.
    rmSync(this.tmpPath, { recursive: true, force: true, maxRetries: 5 });
  }

  /** Makes a fresh directory on the same filesystem as the things it will become. */
  makeTmpDir(name) {
    mkdirSync(this.tmpPath, { recursive: true });
    const dir = mkdtempSync(path.join(this.tmpPath, `${name}-`));
    // Nothing in it is secret, and apt downloads as a user of its own.
    chmodSync(dir, 0o755);
    return dir;
  }

  /** Moves a finished directory to its final name; one of that name goes away first. */
  install(fromDir, name) {
    const target = this.at(name);
    mkdirSync(path.dirname(target), { recursive: true });
    if (existsSync(target)) renameSync(target, path.join(this.makeTmpDir("old"), "old"));
    renameSync(fromDir, target);
    return target;
  }

  /** Points the symbolic link `name` at `target`; atomic for readers. */
  link(target, name) {
    const draft = path.join(this.makeTmpDir("link"), "link");
    symlinkSync(target, draft);
    renameSync(draft, this.at(name));
  }

  /** Writes a small JSON file; atomic for readers. */
  writeJson(name, value) {
    const draft = path.join(this.makeTmpDir("json"), "json");
    writeFileSync(draft, `${JSON.stringify(value, null, 2)}\n`);
    renameSync(draft, this.at(name));
  }

  /** Returns the parsed JSON file, or null where it is missing or unreadable. */
  readJson(name) {
    try {
      return JSON.parse(readFileSync(this.at(name), "utf8"));
    } catch {
      return null;
    }
  }
}
