import { z } from "zod";
import { sessionRef, tcpPort } from "./inputs.ts";
import { describe } from "./operation-contract.ts";
import { forwardSchema } from "./session.ts";

/** The operations that bring ports of a session elsewhere. */
export const FORWARD_CONTRACT = {
  forward: describe({
    summary: "Bring a port of a session to this machine's loopback, or to another session's",
    description:
      "It outlasts a restore and the end of the daemon, until it is stopped or the session " +
      "is removed. Sessions cannot reach each other unless a port is forwarded from " +
      "one to the other.",
    errors: [
      "SESSION_NOT_FOUND",
      "REFERENCE_AMBIGUOUS",
      "SESSION_WRONG_STATE",
      "SESSION_UNRESPONSIVE",
      "PORT_IN_USE",
      "FORWARD_REFUSED",
    ],
    examples: [
      ["waypoint forward web 3000", "On a free port, which it prints"],
      ["waypoint forward web 3000:8080", "On http://127.0.0.1:8080"],
      ["waypoint forward db 5432:5432 --to web", "On 127.0.0.1:5432 inside of web"],
      ["waypoint forward web", "What is forwarded from web and to it"],
      ["waypoint forward web 3000 --stop", "No more"],
    ],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      port: tcpPort.describe("Port inside the session"),
      hostPort: tcpPort.optional().describe("Port on 127.0.0.1 [a free one]"),
      to: sessionRef
        .optional()
        .describe("Session that is to reach it on its loopback [this machine]"),
    }),
    output: forwardSchema,
  }),
  "forward.list": describe({
    summary: "List the forwarded ports",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS"],
    effect: "read",
    input: z.strictObject({ session: sessionRef.optional() }),
    output: z.object({ forwards: z.array(forwardSchema) }),
  }),
  "forward.stop": describe({
    summary: "Stop forwarding a port; its open connections end",
    errors: ["SESSION_NOT_FOUND", "REFERENCE_AMBIGUOUS", "FORWARD_NOT_FOUND"],
    effect: "write",
    input: z.strictObject({
      session: sessionRef,
      port: tcpPort.describe("Port inside the session"),
      to: sessionRef.optional(),
    }),
    output: forwardSchema,
  }),
} as const;
