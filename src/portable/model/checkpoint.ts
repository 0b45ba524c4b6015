import { z } from "zod";
import { autoCauseSchema, checkpointSchema, netModeSchema } from "../../shared/protocol/index.ts";
import { type ExtraMounts, extraMountsShape } from "./extra-mounts.ts";
import { laterNumber, laterText, limitsShape } from "./kept.ts";

/** What of a checkpoint is kept as it is told. */
const TOLD = {
  ...({ id: true, session: true, sessionName: true, parent: true, name: true } as const),
  ...({ intent: true, trigger: true, content: true, createdAt: true } as const),
  ...({ pauseMs: true, totalMs: true, memoryBytes: true, stage: true } as const),
} as const;

/** A checkpoint as the catalog and its manifest keep it. */
export const checkpointRecordSchema = checkpointSchema.pick(TOLD).extend({
  ...extraMountsShape,
  ...limitsShape,
  autoCause: autoCauseSchema.nullable().default(null),
  pauseBytes: laterNumber.describe("What was copied in its pause; null: all of its memory"),
  base: z.string(),
  net: netModeSchema,
  netAllow: laterText.describe("List of what it may reach, as `--net` takes it; null: everything"),
  user: z.string(),
  cwd: z.string(),
  terminal: z
    .number()
    .nullable()
    .describe("Id of the main terminal in its init; null without processes"),
  kernel: z.string(),
  criu: z.string(),
  arch: z.string(),
  shell: laterText.describe(
    "Path of its shell in the base; null for bash, or sh where there is none",
  ),
  unchangedSince: laterText.describe(
    "Parent whose captures it shares, since nothing had changed; null for captures of its own",
  ),
  imagesSums: laterText.describe(
    "Digest of the sums of its images; null while there are none to compare with",
  ),
  heldBy: laterText.describe("The frozen instance that is this checkpoint until it was dumped"),
  heldWhy: laterText.describe("Why it could not be dumped; null before it was tried"),
  agentSaid: laterText.describe("The agent's last message or tool call, as it was handed over"),
  agentState: laterText.describe("Where the agent's state of then lies; null where it had none"),
  task: laterText.describe("The task that was in progress, as its id and its title"),
  tags: laterText.describe(
    "Labels that it may share with others, as a list in JSON; null for none",
  ),
});
export type CheckpointRow = Omit<z.infer<typeof checkpointRecordSchema>, keyof ExtraMounts> &
  ExtraMounts;

/** What the timeline shows of a checkpoint. */
export const TIMELINE_COLUMNS = [
  ...(["id", "session", "sessionName", "parent", "name", "intent", "trigger", "content"] as const),
  "autoCause",
  ...([
    "createdAt",
    "unchangedSince",
    "pauseMs",
    "totalMs",
    "memoryBytes",
    "pauseBytes",
    "stage",
  ] as const),
  ...(["heldWhy", "tags", "task"] as const),
] satisfies (keyof CheckpointRow)[];
export type TimelineRow = Pick<CheckpointRow, (typeof TIMELINE_COLUMNS)[number]>;

/** Returns the labels of a checkpoint; none where a manifest has something else in their place. */
export function tagsOf({ tags }: Pick<CheckpointRow, "tags">): string[] {
  if (tags === null) return [];
  try {
    return z.array(z.string()).catch([]).parse(JSON.parse(tags));
  } catch {
    return [];
  }
}
