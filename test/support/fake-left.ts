const IS_OVER = /^(\S+) is over/;

/** What makes something, how that ends, and what it is called; the first group says which one. */
const PAIRS: readonly [RegExp, RegExp, string][] = [
  [/^store\.createInstance(?:From)? (\S+)/, /^store\.deleteInstance (\S+)/, "files of"],
  [/^store\.prepareCheckpoint (\S+)/, /^store\.deleteCheckpoint (\S+)/, "checkpoint"],
  [/^store\.shareCaptures (\S+)/, /^store\.deleteCheckpoint (\S+)/, "checkpoint"],
  [/^sandbox\.mountRoot (\S+)/, /^sandbox\.unmountRoot (\S+)/, "root of"],
  [/^network\.(?:create|take|prepare)\w* (\S+)/, /^network\.remove (\S+)/, "network of"],
  [/^limits\.create (\S+)/, /^limits\.remove (\S+)/, "limits of"],
  [/^freezer\.(?:make|en)\w+ (\S+)/, /^freezer\.remove (\S+)/, "freezer of"],
  [/^freezer\.freeze (\S+)/, /^freezer\.(?:thaw|remove) (\S+)/, "frozen"],
  [/^criu\.makeWorkDir (\S+)/, /^criu\.removeWorkDir (\S+)/, "directory"],
  [/^criu\.startPagesServer (\S+)/, /^criu\.endPagesServer (\S+)/, "pages server in"],
  [/^tree (\d+) runs$/, /^sandbox\.killTree (\d+)/, "tree"],
  [/^(\w*[lL]ink)\.quiesce$/, /^(\w*[lL]ink)\.resume/, "quiet"],
  [/^(store\.images\.hold|store\.snapshots\.ofInstance)(?!.* (?:is over|fails)$)/, IS_OVER, "held"],
  [/^(limits\.(?:liftCpu|prepareToEnter))(?!.* (?:is over|fails)$)/, IS_OVER, "held"],
];

/**
 * Returns what the steps of an engine of fakes have made and not removed again; what a failing step
 * may have made in part counts, and a removal that fails removes nothing.
 */
export function whatIsLeft(notes: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const note of notes) {
    for (const [made, ended, what] of PAIRS) {
      const [begun, over] = [made, ended].map((each) => each.exec(note)?.[1]);
      const name = `${what} ${begun ?? over}`;
      const count = left.get(name) ?? 0;
      if (begun !== undefined) left.set(name, count + 1);
      // What has a name is there once, however often it was made.
      else if (over !== undefined && !note.endsWith(" fails")) {
        left.set(name, what === "held" ? count - 1 : 0);
      }
    }
  }
  return [...left].flatMap(([what, count]) => (count > 0 ? [what] : []));
}
