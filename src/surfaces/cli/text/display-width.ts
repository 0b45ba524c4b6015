import { stripVTControlCharacters } from "node:util";

/** What `styleText` writes; splitting by it puts the colours at the odd places. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: colours begin with one.
const COLOUR = /(\u001b\[[0-9;]*m)/;

/** Text in which each character takes one column, as most does: ASCII, Latin, arrows, lines, marks. */
const NARROW_ONLY =
  /^[ -~\u00a1-\u02ff\u2010-\u2027\u2190-\u22ff\u2400-\u2426\u2442\u2500-\u25fc\u2713\u2717]*$/;

let segmenter: Intl.Segmenter | undefined;

/** Returns how many columns `text` takes on a terminal; colours take none. */
export function displayWidth(text: string): number {
  if (NARROW_ONLY.test(text)) return text.length;
  const plain = stripVTControlCharacters(text);
  if (NARROW_ONLY.test(plain)) return plain.length;
  let columns = 0;
  for (const character of graphemes(plain)) columns += graphemeWidth(character);
  return columns;
}

/**
 * Returns `text` cut to `columnsMax` columns, with an ellipsis where something is missing. All its
 * colours are kept, because one that is not switched off again would go on to the lines below.
 */
export function truncate(text: string, columnsMax: number): string {
  if (displayWidth(text) <= columnsMax) return text;
  if (columnsMax < 1) return "";
  let kept = "";
  let columns = 0;
  let isFull = false;
  for (const [index, part] of text.split(COLOUR).entries()) {
    if (index % 2 === 1) kept += part;
    else if (!isFull) {
      const fitting = takeColumns(part, columnsMax - 1 - columns);
      isFull = fitting !== part;
      columns += displayWidth(fitting);
      kept += isFull ? `${fitting.trimEnd()}…` : fitting;
    }
  }
  return kept;
}

/** Returns the beginning of `text` that fits into `columnsMax` columns. */
function takeColumns(text: string, columnsMax: number): string {
  let kept = "";
  let columns = 0;
  for (const character of graphemes(text)) {
    columns += graphemeWidth(character);
    if (columns > columnsMax) break;
    kept += character;
  }
  return kept;
}

/**
 * Returns `text` in lines of at most `columnsMax` columns, broken between words where that is
 * possible. For text without colours.
 */
export function wrap(text: string, columnsMax: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (const word of text.split(" ")) {
    const longer = line === "" ? word : `${line} ${word}`;
    if (line !== "" && displayWidth(longer) > columnsMax) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line].map((each) => truncate(each, columnsMax));
}

/** Returns `text` filled up with spaces to `columns`, on its right unless it is a number. */
export function pad(text: string, columns: number, align: "left" | "right" = "left"): string {
  const fill = " ".repeat(Math.max(0, columns - displayWidth(text)));
  return align === "left" ? text + fill : fill + text;
}

function graphemeWidth(character: string): number {
  if (isCombining(character)) return 0;
  return isWide(character) ? 2 : 1;
}

// Both patterns are made where they are asked: to make them takes long, and most text is narrow.

/** Marks that are drawn onto the character before them. */
function isCombining(character: string): boolean {
  return /^(?:\p{Mark}|[\u200b-\u200d])+$/u.test(character);
}

/** East Asian wide and full-width blocks, and pictures: two columns each. */
function isWide(character: string): boolean {
  return /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|\p{Emoji_Presentation}/u.test(
    character,
  );
}

function* graphemes(text: string): Generator<string> {
  segmenter ??= new Intl.Segmenter(undefined, { granularity: "grapheme" });
  for (const { segment } of segmenter.segment(text)) yield segment;
}
