import type { Changes, GitChange } from "../../../shared/protocol/index.ts";
import { printable } from "../text/printable.ts";
import { shownCommand } from "../text/secrets.ts";
import type { Paint } from "../text/style.ts";
import { type Mark, renderMark } from "./render-mark.ts";

/** As many characters of a commit's id as people write. */
const ID_CHARACTERS = 8;

/** Returns a line per repository in which something changed, each followed by its new commits. */
export function renderGit(
  { git }: Changes,
  { paint, isBrief }: { paint: Paint; isBrief: boolean },
): string[] {
  return (git ?? []).flatMap((repository) => {
    const facts = describe(repository);
    const commits = isBrief ? [] : renderCommits(repository, paint);
    if (facts.length === 0 && repository.commits.length === 0) return [];
    const told = isBrief || facts.length === 0 ? "" : paint("dim", `  ${facts.join(", ")}`);
    const path = printable(repository.path);
    return [`${renderMark(markOf(repository), paint)} git ${path}${told}`, ...commits];
  });
}

function renderCommits({ commits }: GitChange, paint: Paint): string[] {
  return commits.map(({ id, subject, author }) => {
    const who = paint("dim", `  ${printable(author)}`);
    return `${renderMark("added", paint)} commit ${id.slice(0, ID_CHARACTERS)} ${shownCommand(subject)}${who}`;
  });
}

function markOf({ branch, head }: GitChange): Mark {
  if (branch.before === null && head.before === null) return "added";
  return branch.after === null && head.after === null ? "deleted" : "modified";
}

function describe({ branch, head, dirty, commits }: GitChange): string[] {
  const [before, after] = [placeOf(branch.before, head.before), placeOf(branch.after, head.after)];
  const isElsewhere = before !== after;
  const isRewound = head.before !== head.after && commits.length === 0 && !isElsewhere;
  const short = (id: string | null) => id?.slice(0, ID_CHARACTERS) ?? "no commit";
  return [
    ...(isElsewhere ? [before === null ? (after ?? "") : `${before} → ${after ?? "gone"}`] : []),
    ...(isRewound ? [`${short(head.before)} → ${short(head.after)}`] : []),
    ...(dirty.before !== dirty.after && dirty.after !== null
      ? [dirty.after ? "dirty" : "clean"]
      : []),
  ].filter((fact) => fact !== "");
}

function placeOf(branch: string | null, head: string | null): string | null {
  return branch === null ? (head?.slice(0, ID_CHARACTERS) ?? null) : printable(branch);
}
