import { z } from "zod";
import { WaypointError } from "../../shared/errors/index.ts";
import { DEFAULT_COMMANDS } from "./default-commands.ts";

/** Characters of a policy's text. */
const POLICY_CHARACTERS_MAX = 64 * 1024;
const RULES_MAX = 500;
const TIMEOUT_SECONDS_MAX = 86_400;
const TIMEOUT_SECONDS_DEFAULT = 900;

const word = z
  .string()
  .max(200)
  .regex(/^[^\s-]\S*$/, "one word that is no option");

const policySchema = z.strictObject({
  /** Take what is held by default as well. */
  defaults: z.boolean().default(true),
  /** A program and the words that follow it, options left aside. */
  commands: z.array(z.array(word).min(1).max(10)).max(RULES_MAX).default([]),
  /** Host names, in which `*` stands for anything. */
  destinations: z
    .array(
      z
        .string()
        .min(1)
        .max(253)
        .regex(/^[\w.*:-]+$/, "a host name, in which * is anything"),
    )
    .max(RULES_MAX)
    .default([]),
  /** Methods of HTTP with which curl, wget and httpie are held. */
  methods: z
    .array(z.string().regex(/^[A-Z]{1,20}$/, "a method of HTTP, such as POST"))
    .max(20)
    .optional(),
  /** How long a person has, unless the step itself says so. */
  timeoutSeconds: z.number().int().min(1).max(TIMEOUT_SECONDS_MAX).default(TIMEOUT_SECONDS_DEFAULT),
});

/** What has to be approved, and how long a person has for it. */
export interface ApprovalPolicy {
  commands: readonly (readonly string[])[];
  destinations: readonly string[];
  methods: readonly string[];
  /** Copies, commands and statements for other machines. */
  remoteWork: boolean;
  timeoutMs: number;
}

const DEFAULT_METHODS: readonly string[] = ["POST", "PUT", "PATCH", "DELETE"];

/**
 * Returns the policy that a text is: `default`, `off`, or a policy in JSON; `null` for none.
 *
 * @throws USAGE_INVALID  it is none of them.
 */
export function policyOf(text: string): ApprovalPolicy | null {
  if (text === "off") return null;
  const parsed = policySchema.safeParse(text === "default" ? {} : readJson(text));
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw invalid(`${issue?.path.join(".") || "it"}: ${issue?.message}`);
  }
  const { defaults, commands, destinations, methods, timeoutSeconds } = parsed.data;
  return {
    commands: defaults ? [...DEFAULT_COMMANDS, ...commands] : commands,
    destinations,
    remoteWork: defaults,
    methods: methods ?? (defaults ? DEFAULT_METHODS : []),
    timeoutMs: timeoutSeconds * 1000,
  };
}

function readJson(text: string): unknown {
  if (text.length > POLICY_CHARACTERS_MAX) {
    throw invalid(`it has more than ${POLICY_CHARACTERS_MAX} characters`);
  }
  try {
    return JSON.parse(text);
  } catch {
    throw invalid("it is neither off, default nor JSON");
  }
}

function invalid(why: string): WaypointError {
  return new WaypointError("USAGE_INVALID", `The policy of approvals cannot be used: ${why}.`, {
    hint: 'Such as {"commands": [["git", "push"]], "destinations": ["*.example.com"]}.',
  });
}
