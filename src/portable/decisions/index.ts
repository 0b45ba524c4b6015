/**
 * decisions owns why things were done: what was decided beside a history, kept whatever is restored,
 * and which of it lies on branches that were left. It knows no machine.
 */
export type { Decision, DecisionLog } from "./decision.ts";
export {
  ACCOUNT_CHARS_MAX,
  accountOf,
  isMentioned,
  isOnLine,
  type Line,
} from "./left-decisions.ts";
