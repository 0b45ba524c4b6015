/**
 * effects owns what the engine knows of what agents did outside: which of it came after a checkpoint,
 * and whether whoever began it still lives.
 */
export { effectsBefore, effectsSince, effectWorldOf, tellEffect } from "./tell-effects.ts";
