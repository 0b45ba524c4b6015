/**
 * secrets owns the forms by which a secret is known wherever it stands. It hides nothing itself.
 */
export { KNOWN_TOKENS } from "./known-tokens.ts";
