/**
 * standby owns the forks that are made in advance: which checkpoints get one, parking them within
 * the budget, handing them out, and ending those that nobody needs.
 * What a restore or a fork does with one is checkpoint's matter. docs/DESIGN.md has the reasons.
 */
export { describeStandby } from "./describe-standby.ts";
export { Standbys } from "./standbys.ts";
export { unpark, unparkFor } from "./unpark.ts";
