/** Forms that nothing but a secret has: whatever stands around it, it is one. */
export const KNOWN_TOKENS: readonly RegExp[] = [
  // Of GitHub, GitLab, Slack, npm, AWS and those that begin with sk-.
  /\b(?:gh[opsur]_|github_pat_|glpat-|xox[abeoprs]-|npm_|sk-)[\w-]{16,}/g,
  /\bAKIA[0-9A-Z]{16}\b/g,
  // Tokens of JSON.
  /\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g,
  // A key as OpenSSL and OpenSSH write it.
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
];
