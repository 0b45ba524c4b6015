import type { Checkpoint, OperationOutput } from "../../../shared/protocol/index.ts";
import { renderDiff } from "../diff/render-diff.ts";
import { printable } from "../text/printable.ts";
import type { Paint } from "../text/style.ts";
import { verificationMark } from "../text/verification-mark.ts";
import { wholeTitle } from "../timeline/title.ts";
import type { Preview } from "./previews.ts";

type Log = OperationOutput<"log">;

/** Checkpoints and commands that lie after the selected one, of which so many are named. */
const AFTER_SHOWN_MAX = 5;

/** Returns what a restore of a checkpoint would do to the session as it is now. */
export function renderPreview(
  checkpoint: Checkpoint,
  preview: Preview,
  { log, head, session, paint }: { log: Log; head: string | null; session: string; paint: Paint },
): string[] {
  const { id, verification } = checkpoint;
  const mark = verification === null ? "" : `${verificationMark(verification, paint)} `;
  return [
    `${mark}${paint("yellow", id)} ${wholeTitle(checkpoint, paint)}`.trimEnd(),
    ...contentLine(checkpoint, paint),
    "",
    paint("bold", `What ${printable(session)} has now, put back to it:`),
    ...renderChanges(preview, paint),
    ...renderAfter(checkpoint, { log, head, paint }),
  ];
}

function contentLine({ content }: Checkpoint, paint: Paint): string[] {
  return content === "files"
    ? [paint("yellow", "Files alone: its processes were not captured, a fresh shell starts.")]
    : [];
}

function renderChanges(preview: Preview, paint: Paint): string[] {
  if (preview.kind === "loading") return [paint("dim", "comparing…")];
  if (preview.kind === "failed") return [paint("red", printable(preview.error.message))];
  const { changes } = preview;
  const lines = renderDiff(changes, { style: "stat", isBelowPath: false, paint });
  const summary = changes.summary === "" ? [] : [printable(changes.summary)];
  return lines.length === 0 && summary.length === 0
    ? ["Nothing would change."]
    : [...summary, ...lines];
}

/** What was done since: the checkpoints between the selected one and where the session stands. */
function renderAfter(
  { id }: Checkpoint,
  { log, head, paint }: { log: Log; head: string | null; paint: Paint },
): string[] {
  const byId = new Map(log.checkpoints.map((each) => [each.id, each]));
  const after: Checkpoint[] = [];
  let at = head === null ? undefined : byId.get(head);
  for (
    ;
    at !== undefined && at.id !== id;
    at = at.parent === null ? undefined : byId.get(at.parent)
  ) {
    after.push(at);
  }
  // On another branch, or not all of the way is shown.
  if (at === undefined || after.length === 0) return [];
  const named = after.slice(0, AFTER_SHOWN_MAX).map((each) => {
    return `  ${paint("yellow", each.id)} ${wholeTitle(each, paint)}`.trimEnd();
  });
  const more = after.length - named.length;
  const count = after.length === 1 ? "1 checkpoint" : `${after.length} checkpoints`;
  return ["", `It goes back over ${count}:`, ...named, ...(more > 0 ? [`  … ${more} more`] : [])];
}
