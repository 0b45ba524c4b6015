/**
 * contacts owns what the engine knows of whom sessions talk to: when it is counted, with which
 * checkpoint it is noted, and how it is told.
 */
export { ContactCounts } from "./contact-counts.ts";
export { resumeAllowLists } from "./resume-allow-lists.ts";
