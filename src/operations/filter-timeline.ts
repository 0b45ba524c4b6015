import type { Engine } from "../engine/ports/index.ts";
import { isMentioned } from "../portable/decisions/index.ts";
import { type Checkpoint, type OperationParsedInput, verdictOf } from "../shared/protocol/index.ts";

type Asked = Pick<
  OperationParsedInput<"log">,
  "path" | "package" | "grep" | "verified" | "command" | "tag"
>;

/** Who fits one question, and of whom nobody can say. */
interface Answer {
  fits: (checkpoint: Checkpoint) => boolean;
  isUnknown: (checkpoint: Checkpoint) => boolean;
}

/**
 * Returns the checkpoints whose stories fit all that is asked for.
 *
 * `notSearched` counts those left out of which nobody can say whether they would fit.
 */
export async function filterTimeline(
  checkpoints: readonly Checkpoint[],
  asked: Asked,
  engine: Engine,
): Promise<{ told: Checkpoint[]; notSearched: number }> {
  const answers = await Promise.all(ANSWERS.map((answer) => answer(asked, engine)));
  const given = answers.filter((answer) => answer !== null);
  const told = checkpoints.filter((each) => given.every(({ fits }) => fits(each)));
  const unknown = checkpoints.filter(
    (each) =>
      given.some(({ fits }) => !fits(each)) &&
      given.every(({ fits, isUnknown }) => fits(each) || isUnknown(each)),
  );
  return { told, notSearched: unknown.length };
}

type Question = (asked: Asked, engine: Engine) => Promise<Answer | null>;

const byPath: Question = async ({ path }, { catalog: { stories } }) => {
  if (path === undefined) return null;
  return among(stories.touchingPath(path), stories.unknown("files"), stories.missing());
};

const byPackage: Question = async ({ package: name }, { catalog: { stories } }) => {
  if (name === undefined) return null;
  return among(stories.touchingPackage(name), stories.unknown("packages"), stories.missing());
};

/** What was said with it and what verified it can be searched before the story is ready. */
const byText: Question = async ({ grep }, { catalog, decisions }) => {
  if (grep === undefined) return null;
  const { stories, verifications } = catalog;
  const missing = stories.missing();
  const answer = among(await stories.saying(grep), stories.unknown("commands"), missing);
  const wanted = grep.toLowerCase();
  const has = (text: string | null) => text?.toLowerCase().includes(wanted) === true;
  // All of them, and their whole output: a checkpoint has only the end of the one that counts.
  const verified = new Set(
    verifications
      .all()
      .filter(({ command, output }) => has(command) || has(output))
      .map(({ checkpoint }) => checkpoint),
  );
  const decided = new Set(
    decisions
      .all()
      .filter((each) => isMentioned(each, grep))
      .map(({ checkpoint }) => checkpoint),
  );
  const fits = (checkpoint: Checkpoint) =>
    answer.fits(checkpoint) ||
    verified.has(checkpoint.id) ||
    decided.has(checkpoint.id) ||
    has(checkpoint.name) ||
    has(checkpoint.intent);
  return { ...answer, fits };
};

const byVerification: Question = async ({ verified, command }) => {
  if (verified === undefined && command === undefined) return null;
  const fits = ({ verification }: Checkpoint) => {
    const verdict = verification === null ? "never" : (verdictOf(verification) ?? "undecided");
    return verified === undefined ? verdict !== "never" : verified === verdict;
  };
  return { fits, isUnknown: () => false };
};

const byTag: Question = async ({ tag }) => {
  if (tag === undefined) return null;
  return { fits: ({ tags }) => tags.includes(tag), isUnknown: () => false };
};

const ANSWERS: readonly Question[] = [byPath, byPackage, byText, byVerification, byTag];

function among(
  found: ReadonlySet<string>,
  unread: ReadonlySet<string>,
  missing: readonly string[],
): Answer {
  const unknown = new Set([...unread, ...missing]);
  return { fits: ({ id }) => found.has(id), isUnknown: ({ id }) => unknown.has(id) };
}
