/**
 * decisions owns what the engine knows of decisions: which tree a session is of, and which of what was
 * decided lies on branches that a session has left.
 */
export { allDecisions, captureDecisions, decisionsOf, treeOf } from "./decisions-of.ts";
