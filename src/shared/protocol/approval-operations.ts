import { z } from "zod";
import { callerSchema } from "./caller.ts";
import { instantSchema, referenceSchema } from "./ids.ts";
import { approvalPolicyText, sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";

const approvalSchema = z.object({
  id: z.string(),
  session: z.string(),
  sessionName: z.string(),
  command: z.string().describe("The line that is held, without its secrets"),
  rule: z.string().describe("What holds it"),
  checkpoint: z.string().describe("Taken before it"),
  askedBy: callerSchema.nullable().describe("Whose command it is"),
  askedAt: instantSchema,
  expiresAt: instantSchema,
  state: z
    .enum(["waiting", "approved", "denied", "expired", "used"])
    .describe("approved: not begun yet; used: begun, once"),
  settledAt: instantSchema.nullable(),
  answeredBy: callerSchema.nullable().describe("Who approved or denied it; null: nobody"),
  why: z.string().nullable(),
  exitCode: z.number().int().nullable().describe("Of one that was begun; null: not known"),
  isWaitedFor: z
    .boolean()
    .describe("A command waits for it now; else the same command takes it up again"),
});
export type ApprovalInfo = z.infer<typeof approvalSchema>;

const answerInput = z.strictObject({
  approval: referenceSchema
    .optional()
    .describe("Step: its id, or its session [the only one that waits]"),
  why: z.string().max(10_000).optional().describe("Why, for whoever asked"),
});

const ERRORS = [
  "APPROVAL_NOT_FOUND",
  "APPROVAL_SETTLED",
  "SESSION_NOT_FOUND",
  "REFERENCE_AMBIGUOUS",
] as const;

/** The operations on steps that a person has to approve. */
export const APPROVAL_CONTRACT = {
  approvals: describe({
    summary: "List the steps that wait for a person, and what became of earlier ones",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [["waypoint approvals", "Those that wait come first"]],
    effect: "read",
    input: z.strictObject({ session: sessionRef.optional() }),
    output: z.object({ approvals: z.array(approvalSchema) }),
  }),
  "approvals.watch": describe({
    summary: "Tell the steps that wait for a person as they come and go",
    description:
      "Followed, a step is told when it waits, and once more when it waits no longer. " +
      "Meanwhile it is told each time its command goes or comes back. The stream ends with its client.",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [["waypoint approvals --follow", "Goes on until Ctrl-C"]],
    effect: "read",
    stream: true,
    input: z.strictObject({ session: sessionRef.optional() }),
    output: z.object({}),
  }),
  approve: describe({
    summary: "Approve a step that waits: it runs, once",
    description:
      "Where its command was left meanwhile, the same command runs it, before its time is over.",
    errors: ERRORS,
    examples: [
      ["waypoint approve", "The only one that waits"],
      ["waypoint approve web -m 'looked at the diff'", "That of the session web"],
    ],
    effect: "write",
    input: answerInput,
    output: approvalSchema,
  }),
  deny: describe({
    summary: "Deny a step that waits: nothing of it runs",
    errors: ERRORS,
    examples: [["waypoint deny web -m 'not on a Friday'", "Whoever asked reads why"]],
    effect: "write",
    input: answerInput,
    output: approvalSchema,
  }),
  approval: describe({
    summary: "Show or choose what a person has to approve in a session",
    description:
      "`default` names pushes, publishing, mail, deployments, and requests that change something. " +
      "What is chosen is kept here: nothing inside the session changes it.",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ["waypoint approval web", "What holds now"],
      ["waypoint approval web default", "Hold from now on"],
      ["waypoint approval web ./policy.json", "By a policy of one's own"],
    ],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      policy: approvalPolicyText.optional().describe("Policy: off, default, or one in JSON"),
    }),
    output: z.object({
      session: z.string(),
      policy: z.string(),
      commands: z.array(z.array(z.string())),
      destinations: z.array(z.string()),
      methods: z.array(z.string()),
      timeoutMs: z
        .number()
        .nullable()
        .describe("How long a person has; null where nothing is held"),
    }),
  }),
} as const;
