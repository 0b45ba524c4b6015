import { z } from "zod";
import { contactsSchema } from "./contacts.ts";
import { checkpointRef, sessionRef } from "./inputs.ts";
import { describe } from "./operation-contract.ts";

/** The operations on whom sessions talk to. */
export const CONTACT_CONTRACT = {
  contacts: describe({
    summary: "Show whom a session has talked to outside",
    description:
      "By connections that it began itself, through its own network; no restore takes them back. " +
      "Names are those it was answered while the daemon ran.",
    errors: ["SESSION_NOT_FOUND", "CHECKPOINT_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    examples: [
      ["waypoint contacts web", "All, whatever it was restored to meanwhile"],
      ["waypoint contacts web --since green", "What a restore to green would leave said"],
    ],
    effect: "read",
    input: z.strictObject({
      session: sessionRef,
      since: checkpointRef.optional().describe("Only since this checkpoint"),
    }),
    output: contactsSchema,
  }),
} as const;
