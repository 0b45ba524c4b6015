import { z } from "zod";
import { sessionRef, tcpPort } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { forwardSchema } from "./session.ts";

/** The operations that bring ports of a session elsewhere. */
export const FORWARD_CONTRACT = {
  forward: describe({
    summary: "Bring a port of a session to this machine's loopback, or to another session's",
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      port: tcpPort.describe("Port inside the session"),
      hostPort: tcpPort.optional().describe("Port on 127.0.0.1; a free one if not given"),
      to: sessionRef.optional().describe("Session that is to reach it; this machine if not given"),
    }),
    output: forwardSchema,
  }),
  "forward.list": describe({
    summary: "List the forwarded ports",
    effect: "read",
    input: z.strictObject({ session: sessionRef.optional() }),
    output: z.object({ forwards: z.array(forwardSchema) }),
  }),
  "forward.stop": describe({
    summary: "Stop forwarding a port; its open connections end",
    effect: "write",
    input: z.strictObject({ session: sessionRef, port: tcpPort, to: sessionRef.optional() }),
    output: forwardSchema,
  }),
} as const;
