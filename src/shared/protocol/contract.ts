import type { z } from "zod";
import { APPROVAL_CONTRACT } from "./approval-operations.ts";
import { AUTO_CONTRACT } from "./auto-operations.ts";
import { BASE_CONTRACT } from "./base-operations.ts";
import { BISECT_CONTRACT } from "./bisect-operations.ts";
import { CHECKPOINT_CONTRACT } from "./checkpoint-operations.ts";
import { CONTACT_CONTRACT } from "./contact-operations.ts";
import { DECISION_CONTRACT } from "./decision-operations.ts";
import { EFFECT_CONTRACT } from "./effect-operations.ts";
import { FILE_CONTRACT } from "./file-operations.ts";
import { FORWARD_CONTRACT } from "./forward-operations.ts";
import type { OperationTypes } from "./generated/operation-types.ts";
import { HOST_CONTRACT } from "./host-operations.ts";
import { MERGE_CONTRACT } from "./merge-operations.ts";
import { REMOVE_CONTRACT } from "./remove-operations.ts";
import { RESTORE_CONTRACT } from "./restore-operations.ts";
import { SESSION_CONTRACT } from "./session-operations.ts";
import { STATE_CONTRACT } from "./state-operations.ts";
import { STORY_CONTRACT } from "./story-operations.ts";
import { TASK_CONTRACT } from "./task-operations.ts";
import { VERIFY_CONTRACT } from "./verify-operations.ts";

/**
 * Every operation of Waypoint, described once and found by its name: the daemon validates with it,
 * the command line, the SDK and the documents derive from it.
 */
export const CONTRACT = {
  ...SESSION_CONTRACT,
  ...REMOVE_CONTRACT,
  ...CHECKPOINT_CONTRACT,
  ...VERIFY_CONTRACT,
  ...BISECT_CONTRACT,
  ...STORY_CONTRACT,
  ...FILE_CONTRACT,
  ...AUTO_CONTRACT,
  ...APPROVAL_CONTRACT,
  ...STATE_CONTRACT,
  ...TASK_CONTRACT,
  ...EFFECT_CONTRACT,
  ...CONTACT_CONTRACT,
  ...DECISION_CONTRACT,
  ...RESTORE_CONTRACT,
  ...MERGE_CONTRACT,
  ...FORWARD_CONTRACT,
  ...BASE_CONTRACT,
  ...HOST_CONTRACT,
} as const;

export type OperationName = keyof OperationTypes;
export type OperationInput<N extends OperationName> = OperationTypes[N]["input"];
export type OperationParsedInput<N extends OperationName> = z.output<(typeof CONTRACT)[N]["input"]>;
export type OperationOutput<N extends OperationName> = OperationTypes[N]["output"];
