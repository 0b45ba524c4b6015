/** Verifies automatic checkpoints when nobody is at work; src/engine/verify has the one there is. */
export interface BackgroundVerifier {
  /** Looks soon, not now, whether there is something to verify: an operation has ended. Never throws. */
  look(): void;
  /** Gives up what is under way for a session, whose command is another now or none. Never throws. */
  abandon(sessionId: string): void;
  /** Verifies none any more; resolves when the one under way has ended. Idempotent. */
  close(): Promise<void>;
}
