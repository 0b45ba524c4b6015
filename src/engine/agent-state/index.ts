/**
 * agent-state owns the state of each session's agent: which one is the session's, changing it, and
 * removing what no session and no checkpoint has any more.
 */
export { changeState } from "./change-state.ts";
export { sweepStates } from "./sweep-states.ts";
