/** What makes a session be captured by itself. */
export interface AutoPolicy {
  /** As it is written; equal policies are written alike. */
  text: string;
  /** After commands: none, those that changed something, or each. */
  commands: "none" | "changing" | "each";
  /** When files that were written have come to rest. */
  edits: boolean;
  /** When somebody says that a task has ended. */
  tasks: boolean;
  /** Where something has changed or run in this time; `null` for never. */
  everyMs: number | null;
}

const MANUAL: AutoPolicy = {
  text: "manual",
  commands: "none",
  edits: false,
  tasks: false,
  everyMs: null,
};
const UNIT_MS: Readonly<Record<string, number>> = { s: 1_000, m: 60_000, h: 3_600_000 };
const EVERY_MS_MAX = 7 * 24 * 3_600_000;
const WORDS_MAX = 8;

/** What a policy is made of, for whoever wrote another one. */
export const AUTO_POLICY_WORDS =
  "manual or off, or one or several of hybrid, command, edit, task and every=5m, with commas between them";

/** Reads a policy, as `--auto` takes it; `null` where it is none. */
export function parseAutoPolicy(text: string): AutoPolicy | null {
  if (text === "off" || text === "manual") return MANUAL;
  const words = text.split(",");
  if (words.length > WORDS_MAX) return null;
  let policy: AutoPolicy | null = MANUAL;
  for (const word of words) policy = policy === null ? null : withWord(policy, word);
  return policy === null ? null : { ...policy, text: writePolicy(policy) };
}

function withWord(policy: AutoPolicy, word: string): AutoPolicy | null {
  switch (word) {
    case "command":
      return { ...policy, commands: "each" };
    case "edit":
      return { ...policy, edits: true };
    case "task":
      return { ...policy, tasks: true };
    case "hybrid": {
      const commands = policy.commands === "each" ? "each" : "changing";
      return { ...policy, commands, tasks: true };
    }
    default: {
      const everyMs = readEvery(word);
      return everyMs === null || policy.everyMs !== null ? null : { ...policy, everyMs };
    }
  }
}

function readEvery(word: string): number | null {
  const [, count, unit = ""] = /^every=([1-9]\d{0,5})([smh])$/.exec(word) ?? [];
  const everyMs = Number(count) * (UNIT_MS[unit] ?? Number.NaN);
  return everyMs <= EVERY_MS_MAX ? everyMs : null;
}

function writePolicy({ commands, edits, tasks, everyMs }: AutoPolicy): string {
  const isHybrid = commands === "changing";
  return [
    ...(isHybrid ? ["hybrid"] : []),
    ...(commands === "each" ? ["command"] : []),
    ...(edits ? ["edit"] : []),
    ...(tasks && !isHybrid ? ["task"] : []),
    ...(everyMs === null ? [] : [`every=${writeTime(everyMs)}`]),
  ].join(",");
}

function writeTime(everyMs: number): string {
  const unit = ["h", "m", "s"].find((each) => everyMs % (UNIT_MS[each] ?? 1) === 0) ?? "s";
  return `${everyMs / (UNIT_MS[unit] ?? 1)}${unit}`;
}
