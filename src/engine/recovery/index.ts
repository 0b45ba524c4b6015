/**
 * recovery owns the first seconds of a daemon: finding the sessions and checkpoints that the last
 * one left, and removing what was half-made.
 */
export { recover } from "./recover.ts";
