import type { SessionRow } from "../../portable/model/index.ts";
import { type AutoPolicy, type AutoState, parseAutoPolicy } from "../../shared/protocol/index.ts";
import type { EngineSettings } from "../ports/index.ts";

type AutomaticColumns = Pick<SessionRow, "auto" | "autoPausedAt" | "autoFailure" | "autoFailedAt">;

/** Returns what a new session's row says of automatic checkpoints. */
export function automaticOf(policy: string | null): AutomaticColumns {
  return { auto: policy, autoPausedAt: null, autoFailure: null, autoFailedAt: null };
}

/** Returns when a session is captured by itself. */
export function autoPolicyOf(
  { auto }: Pick<SessionRow, "auto">,
  { autoDefault }: Pick<EngineSettings, "autoDefault">,
): AutoPolicy {
  const policy = parseAutoPolicy(auto ?? autoDefault) ?? parseAutoPolicy("manual");
  if (policy === null) throw new TypeError("manual is a policy");
  return policy;
}

/** Returns a session's automatic checkpoints as the outside sees them. */
export function describeAutomatic(
  { auto, autoPausedAt, autoFailure, autoFailedAt }: AutomaticColumns,
  { autoDefault }: Pick<EngineSettings, "autoDefault">,
): AutoState {
  const hasFailed = autoFailure !== null && autoFailedAt !== null;
  return {
    policy: auto ?? autoDefault,
    isDefault: auto === null,
    pausedSince: autoPausedAt,
    failure: hasFailed ? { at: autoFailedAt, message: autoFailure } : null,
  };
}
