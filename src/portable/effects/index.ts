/**
 * effects owns what an agent does to the outside world and no restore takes back: each is written down
 * before it is done and again when it was, so that the same key is never done twice without anybody
 * knowing. It does nothing outside itself and knows no machine.
 */
export type { Effect, EffectBegin, EffectEnd, EffectJournal, EffectOwner } from "./effect.ts";
export {
  beginCompensation,
  beginEffect,
  endCompensation,
  endEffect,
  settleEffect,
} from "./effect-rules.ts";
export { hashInput, type JsonInput } from "./hash-input.ts";
export { LazyEffects } from "./lazy-effects.ts";
