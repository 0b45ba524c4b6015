import { z } from "zod";
import { sessionSchema } from "../../shared/protocol/index.ts";
import { type ExtraMounts, extraMountsShape } from "./extra-mounts.ts";
import { laterText, limitsShape } from "./kept.ts";

/** What of a session is kept as it is told. */
const TOLD = {
  ...({ id: true, name: true, state: true, base: true, net: true, user: true, cwd: true } as const),
  ...({ createdAt: true, head: true, forkedFrom: true } as const),
} as const;

/** A session as the catalog keeps it, and the store beside its files. */
export const sessionRecordSchema = sessionSchema.pick(TOLD).extend({
  ...extraMountsShape,
  ...limitsShape,
  instance: z
    .string()
    .nullable()
    .describe("The live or last instance: its subvolume, its mount, its network"),
  instanceCount: z.number().describe("Instances made so far; names the next one"),
  shell: laterText.describe(
    "Path of its shell in the base; null for bash, or sh where there is none",
  ),
  standby: laterText.describe("What is kept on standby for it; null for what is kept of all"),
  auto: laterText.describe("When it is captured by itself; null for what is done with all"),
  autoPausedAt: laterText,
  autoFailure: laterText.describe(
    "Why its last automatic checkpoint failed; null once one was taken",
  ),
  autoFailedAt: laterText,
  verifyWords: laterText.describe("The command it is verified with, as words in JSON"),
  verifyCommand: laterText.describe("The same as a line of its shell"),
  verifyAutomatic: laterText.describe("off: automatic checkpoints are not verified by themselves"),
  approval: laterText.describe("Policy of what a person has to approve; null: nothing"),
  agentState: laterText.describe("Where the agent's state lies (portable/agent-state); null: none"),
  netAllow: laterText.describe("List of what it may reach, as `--net` takes it; null: everything"),
});
export type SessionRow = Omit<z.infer<typeof sessionRecordSchema>, keyof ExtraMounts> & ExtraMounts;
