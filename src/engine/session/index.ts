/**
 * session owns live sessions: starting, running commands in, attaching to, ending and removing
 * them, and the instances that a restore swaps.
 * It does not capture or restore (checkpoint) and knows adapters only as types.
 */

export { findActiveTypist, requireIdleTerminal } from "./active-typist.ts";
export { adoptInstance } from "./adopt-instance.ts";
export { attachSession } from "./attach-session.ts";
export { automaticOf, autoPolicyOf, describeAutomatic } from "./automatic-of.ts";
export { callInit } from "./call-init.ts";
export { chargeInstance } from "./charge-instance.ts";
export { baseNotFound, readBaseRecord } from "./choose-base.ts";
export { claimName, createSession, isFreeToMakeUp, requireFreeName } from "./create-session.ts";
export { describeSession, listProcesses, requireLive } from "./describe-session.ts";
export { removeSession, stopSession } from "./end-session.ts";
export { execInSession } from "./exec-in-session.ts";
export {
  type BindChoice,
  externalMounts,
  findMissingBinds,
  requireRestorableBinds,
} from "./extra-mounts.ts";
export { fillLayers } from "./fill-layers.ts";
export { keepMemory } from "./fill-memory.ts";
export { forwardPort, listForwards, resumeForwards, stopForward } from "./forward-ports.ts";
export { requireUndamaged } from "./image-check.ts";
export {
  buildFreshInstance,
  buildInstanceFrom,
  endInstance,
  reconnectInstance,
  removeInstance,
} from "./instance.ts";
export { workDirOf } from "./instance-paths.ts";
export { cutShort, haltInstance } from "./kill-instance.ts";
export { endIfLost, hasLostMemory, isServed, untilWhole } from "./lazy-memory.ts";
export { nameHost } from "./name-host.ts";
export { numberedNames, requireValidName } from "./names.ts";
export { buildParkedInstance, enlistInstance } from "./parked-instance.ts";
export { quoteCommand } from "./quote-command.ts";
export { restoreAgain } from "./restore-again.ts";
export type { InstanceSource } from "./restore-tree.ts";
export { limitsOf, requireUsablePids } from "./session-limits.ts";
export { type SessionStart, sessionStart } from "./session-start.ts";
export { sessionShell, shellEnvironment } from "./shell.ts";
export { runInLiveShell } from "./start-command.ts";
export {
  chooseVerifyCommand,
  requireVerifyCommand,
  tellVerifyCommand,
  verifyCommandOf,
} from "./verify-command.ts";
