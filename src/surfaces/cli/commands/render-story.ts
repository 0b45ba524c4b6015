import type { OperationOutput } from "../../../shared/protocol/index.ts";
import { renderOthers, renderUnknown } from "../diff/render-diff.ts";
import { renderFiles } from "../diff/render-files.ts";
import { SHOW_SECTIONS, type ShowSection } from "../parse-sections.ts";
import { headed } from "../text/headed.ts";
import { printableLines } from "../text/printable.ts";
import { formatCount } from "../text/quantities.ts";
import { shownCommand } from "../text/secrets.ts";
import type { Paint } from "../text/style.ts";
import { renderCommands, renderIntent, renderScreen } from "./render-recent.ts";

type Shown = OperationOutput<"show">;

/** Files that are listed unless they are asked for. */
const FILES_LISTED_MAX = 30;

/** Returns what a checkpoint tells besides its facts and its screen. */
export function renderStory(
  shown: Shown,
  { paint, isAll = false }: { paint: Paint; isAll?: boolean },
): string[] {
  const { changes, story } = shown;
  return [
    ...renderIntent(story, paint),
    ...headed(
      "Files",
      listFiles(shown, isAll ? Number.POSITIVE_INFINITY : FILES_LISTED_MAX, paint),
      paint,
    ),
    ...headed("Other changes", renderOthers(changes, { paint, isBrief: false }), paint),
    ...headed("Commands", renderCommands(story, paint, { isWhole: false }), paint),
  ];
}

/** Returns the sections that were asked for, in full, and no others. */
export function renderAsked(
  shown: Shown,
  sections: readonly ShowSection[],
  paint: Paint,
): string[] {
  const { changes, story } = shown;
  const isAsked = (section: ShowSection) => sections.includes(section);
  const others = SHOW_SECTIONS.filter((section) => section in changes && !isAsked(section));
  const asked = { ...changes, ...Object.fromEntries(others.map((section) => [section, null])) };
  const only = (section: ShowSection, lines: () => string[]) => (isAsked(section) ? lines() : []);
  const lines = [
    ...only("intent", () => renderIntent(story, paint)),
    ...only("files", () =>
      headed("Files", listFiles(shown, Number.POSITIVE_INFINITY, paint), paint),
    ),
    ...headed("Other changes", renderOthers(asked, { paint, isBrief: false }), paint),
    ...only("commands", () =>
      headed("Commands", renderCommands(story, paint, { isWhole: true }), paint),
    ),
    ...only("verification", () => headed("Verification", renderVerified(shown), paint)),
    ...only("terminal", () => renderScreen(story, paint)),
    ...renderUnlisted(shown, paint, sections),
  ];
  return lines[0] === "" ? lines.slice(1) : lines;
}

/** Returns what could not be read, each with the reason. */
export function renderUnlisted(
  { changes, story }: Shown,
  paint: Paint,
  sections?: readonly ShowSection[],
): string[] {
  const unknown = { ...changes.unknown, ...story.unknown };
  const lines = renderUnknown(unknown, { isBelowPath: false, sections, paint });
  return lines.length === 0 ? [] : ["", ...lines];
}

/** A list that leaves something out ends with how to see it. */
function listFiles({ id, changes }: Shown, linesMax: number, paint: Paint): string[] {
  const lines = renderFiles(changes, { paint, isBrief: false });
  const hidden = Math.max(0, lines.length - linesMax);
  const hasGroups = changes.files?.some(({ group }) => group !== undefined) === true;
  return [
    ...lines.slice(0, linesMax),
    ...(hidden === 0
      ? []
      : [paint("dim", `… and ${formatCount(hidden)} more: waypoint show ${id} --section files`)]),
    ...(hasGroups ? [paint("dim", `Those in groups, one by one: waypoint show ${id} --all`)] : []),
  ];
}

function renderVerified({ verification }: Shown): string[] {
  if (verification === null) return ["never"];
  const { command, exitCode, output } = verification;
  const lines = output === "" ? [] : printableLines(output.trimEnd()).split("\n");
  return [`${shownCommand(command)}, exit code ${exitCode}`, ...lines];
}
