/** Verifies automatic checkpoints when nobody is at work; src/engine/verify has the one there is. */
export interface BackgroundVerifier {
  /** Looks soon, not now, whether there is something to verify: an operation has ended. Never throws. */
  look(): void;
  /** Verifies none any more; resolves when the one under way has ended. Idempotent. */
  close(): Promise<void>;
}
