import { z } from "zod";
import { contentSchema } from "./checkpoint.ts";
import { contactsSchema } from "./contacts.ts";
import { effectSchema } from "./effect-operations.ts";
import { instantSchema } from "./ids.ts";
import { partsSchema } from "./restore-parts.ts";
import { bindSchema, sessionStateSchema } from "./session.ts";
import { stateKeySchema } from "./state.ts";
import {
  changesSchema,
  connectionSchema,
  listeningPortSchema,
  storyCommandSchema,
  storyProcessSchema,
} from "./story.ts";

/** A process that has files open which are put back under it. */
export const holderSchema = z.object({
  pid: z.number().int().describe("Process id inside the session"),
  command: z.string(),
  paths: z.array(z.string()).describe("The first of them"),
  pathsCount: z.number().int(),
});
export type Holder = z.infer<typeof holderSchema>;

/** What a restore would do, told before it does it. */
export const restorePlanSchema = z.object({
  session: z.string(),
  sessionName: z.string(),
  checkpoint: z.string(),
  checkpointName: z.string().nullable(),
  content: contentSchema.describe("files: the session gets a fresh shell on them"),
  parts: partsSchema,
  changes: changesSchema.describe(
    "From now to the checkpoint, which is what the restore does: deleted is what would be gone",
  ),
  commands: z
    .array(storyCommandSchema.omit({ output: true, outputBytes: true }))
    .nullable()
    .describe("Run since then, oldest first: what they did in the session would be undone"),
  state: z
    .array(
      z.object({
        key: z.string(),
        now: stateKeySchema.nullable().describe("null where the key comes back"),
        restored: stateKeySchema.nullable().describe("null where the key goes"),
      }),
    )
    .describe("Keys of the agent's state that would change"),
  effects: z
    .array(effectSchema)
    .describe("What its agent did outside since then, which stays done; the last of it"),
  effectsCount: z.number().int(),
  told: z
    .array(
      z.object({
        checkpoint: z.string().describe("With which it was handed over"),
        at: instantSchema,
        kind: z.enum(["message", "task"]),
        text: z.string(),
      }),
    )
    .describe(
      "What an agent said, and tasks that it said were done, since then: it would be dropped",
    ),
  commandsUnknown: z.string().nullable().describe("Why not all of them are told"),
  outside: z
    .object({
      connections: z.array(connectionSchema).describe("Would end; what was sent stays sent"),
      binds: z.array(bindSchema).describe("Directories of the host: what is in them stays"),
      contacts: contactsSchema.describe("Whom it talked to since then, on any branch"),
    })
    .describe("What no restore takes back"),
  heldOpen: z
    .array(holderSchema)
    .describe("Processes that go on and have files open which would be replaced"),
  typing: z
    .object({
      attached: z.number().int().describe("Terminals that are attached"),
      lastKeyAt: instantSchema,
      sentence: z.string().describe("The same for people"),
    })
    .nullable()
    .describe("Somebody types at an attached terminal: a restore has to be told whileTyping"),
  refused: z.string().nullable().describe("Why it would be refused as it was asked for"),
  untouched: z
    .object({
      sessions: z.array(
        z.object({
          id: z.string(),
          name: z.string(),
          state: sessionStateSchema,
          isRelated: z.boolean().describe("Forked from this one's history, or the other way round"),
        }),
      ),
      standbys: z.array(z.string()).describe("Checkpoints that a fork stands ready of"),
    })
    .describe("What else there is, and stays as it is"),
});
export type RestorePlan = z.infer<typeof restorePlanSchema>;

/** What a restore was found to have done, compared with what was to be there. */
export const restoreCheckSchema = z.object({
  asPlanned: z.boolean().describe("Nothing differs, and all could be compared"),
  files: z
    .object({
      count: z.number().int().describe("Paths that differ: programs that run again write again"),
      paths: z.array(z.string()).describe("The first of them"),
    })
    .nullable(),
  processes: z
    .object({ missing: z.array(storyProcessSchema), others: z.array(storyProcessSchema) })
    .nullable()
    .describe("By process id and program; null where none were to be put back, or unknown"),
  ports: z
    .object({ missing: z.array(listeningPortSchema), others: z.array(listeningPortSchema) })
    .nullable(),
  unknown: z.record(z.string(), z.string()).describe("What could not be compared, each with why"),
  tookMs: z.number(),
});
export type RestoreCheck = z.infer<typeof restoreCheckSchema>;
