import { z } from "zod";

/** Who asked something of the daemon. */
export const callerSchema = z.object({
  uid: z.number().int().nullable().describe("As the kernel says"),
  user: z.string().nullable().describe("The name of that on this machine"),
  surface: z.string().nullable().describe("cli, terminal, sdk: as the client says"),
  sudoUser: z.string().nullable().describe("Who became that by sudo, as the client says"),
  tty: z.string().nullable().describe("Terminal of the host, as the client says"),
});
export type Caller = z.infer<typeof callerSchema>;
