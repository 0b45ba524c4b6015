/** Memory that is held for the next images, so that no dump waits for the host of the machine. */
export interface WarmReserve {
  /** Notes what the pause of the next capture of a session will write. */
  note(sessionId: string, pauseBytes: number): void;
  /** Images of about so many bytes are about to be written: as much is let go of, at once. Never fails. */
  makeWay(expectedBytes: number): void;
  /** They have been written: what was let go of is held again, in the background. Never fails. */
  fill(): void;
  /** Says what is held and what should be. */
  status(): Promise<WarmStatus>;
  close(): Promise<void>;
}

/** How a reserve stands. */
export interface WarmStatus {
  /** What the kernel has taken for others is not in it. */
  heldBytes: number;
  wantedBytes: number;
}
