/**
 * bisect owns finding the first bad checkpoint between two: which ones to try, in how many forks at
 * once, and what their results say. Running the command is verification's.
 */
export { type BisectRequest, bisectCheckpoints } from "./bisect-checkpoints.ts";
