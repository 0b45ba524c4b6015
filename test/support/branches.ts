import type { Checkpoint, Session } from "../../src/index.ts";
import { TestTerminal } from "./test-terminal.ts";

/** A session that goes on from a checkpoint, and the terminal attached to it. */
export interface Branch {
  /** 0 for the restored original, 1 and 2 for the forks. */
  index: number;
  session: Session;
  terminal: TestTerminal;
}

/**
 * Restores `session` in place and forks its checkpoint twice: three that go on from one moment.
 *
 * The terminal attached to the session stays attached over the restore.
 */
export async function branchInThree(
  session: Session,
  terminal: TestTerminal,
  checkpoint: Checkpoint,
): Promise<Branch[]> {
  await session.restore(checkpoint, { whileTyping: true });
  const forks = await checkpoint.fork(2);
  const branches: Branch[] = [{ index: 0, session, terminal }];
  for (const [index, fork] of forks.entries()) {
    branches.push({ index: index + 1, session: fork, terminal: await TestTerminal.attach(fork) });
  }
  return branches;
}

/** Ends the branches of a test, so that the next one has the machine to itself. */
export async function removeBranches(branches: readonly Branch[]): Promise<void> {
  for (const { session, terminal } of branches) {
    await terminal[Symbol.asyncDispose]();
    await session.remove({ force: true });
  }
}
