/**
 * automatic owns the checkpoints that nobody has to ask for: when a session is captured by itself,
 * and that this never blocks anybody, piles up or storms.
 * It does not capture (checkpoint). docs/going-back.md tells what the policies are for.
 */
export { AutomaticCheckpoints } from "./automatic-checkpoints.ts";
