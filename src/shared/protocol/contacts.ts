import { z } from "zod";

/** Somebody outside that a session talked to. */
export const contactSchema = z.object({
  names: z
    .array(z.string())
    .describe("Names for which it was given these addresses, newest first; none where unknown"),
  addresses: z.array(z.string()),
  protocol: z.string().describe("tcp, udp, icmp, …"),
  port: z.number().int().nullable().describe("null where the protocol has none"),
  sentBytes: z
    .number()
    .int()
    .describe("With the headers of IP; without an answer it did not arrive"),
  receivedBytes: z.number().int(),
});
export type Contact = z.infer<typeof contactSchema>;

/** Whom a session talked to by connections that it began itself. */
export const contactsSchema = z.object({
  contacts: z.array(contactSchema).describe("Those with the most bytes first"),
  moreSentBytes: z.number().int().describe("To others that are not listed"),
  moreReceivedBytes: z.number().int(),
  unknown: z.string().nullable().describe("Why it cannot be told"),
});
export type Contacts = z.infer<typeof contactsSchema>;
