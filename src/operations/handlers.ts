import type { OperationName } from "../shared/protocol/index.ts";
import { APPROVAL_HANDLERS } from "./approval-handlers.ts";
import { AUTO_HANDLERS } from "./auto-handlers.ts";
import { BASE_HANDLERS } from "./base-handlers.ts";
import { bisect } from "./bisect.ts";
import { CHECKPOINT_HANDLERS } from "./checkpoint-handlers.ts";
import { CONTACT_HANDLERS } from "./contact-handlers.ts";
import { DECISION_HANDLERS } from "./decision-handlers.ts";
import { EFFECT_HANDLERS } from "./effect-handlers.ts";
import { FILE_HANDLERS } from "./file-handlers.ts";
import { FORWARD_HANDLERS } from "./forward-handlers.ts";
import { MERGE_HANDLERS } from "./merge-handlers.ts";
import type { HandlersOf } from "./operation-handler.ts";
import { REMOVE_HANDLERS } from "./remove-handlers.ts";
import { RESTORE_HANDLERS } from "./restore-handlers.ts";
import { SESSION_HANDLERS } from "./session-handlers.ts";
import { STATE_HANDLERS } from "./state-handlers.ts";
import { STORY_HANDLERS } from "./story-handlers.ts";
import { TASK_HANDLERS } from "./task-handlers.ts";
import { VERIFY_HANDLERS } from "./verify-handlers.ts";

/** The operations of sessions and checkpoints; the daemon adds those about itself. */
export type EngineOperations = HandlersOf<Exclude<OperationName, `daemon.${string}`>>;

/** What each operation of the contract does: resolve names, take the lease, call the engine. */
export const HANDLERS: EngineOperations = {
  ...SESSION_HANDLERS,
  ...REMOVE_HANDLERS,
  ...CHECKPOINT_HANDLERS,
  ...VERIFY_HANDLERS,
  bisect,
  ...STORY_HANDLERS,
  ...FILE_HANDLERS,
  ...AUTO_HANDLERS,
  ...APPROVAL_HANDLERS,
  ...STATE_HANDLERS,
  ...TASK_HANDLERS,
  ...EFFECT_HANDLERS,
  ...CONTACT_HANDLERS,
  ...DECISION_HANDLERS,
  ...RESTORE_HANDLERS,
  ...MERGE_HANDLERS,
  ...FORWARD_HANDLERS,
  ...BASE_HANDLERS,
};
