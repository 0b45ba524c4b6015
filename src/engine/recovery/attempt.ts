import type { Engine } from "../ports/index.ts";

/** Does a step of recovery; where it fails, that is logged, and the next ones come all the same. */
export async function attempt(
  what: string,
  { logger }: Engine,
  step: () => unknown,
  facts: Record<string, unknown> = {},
): Promise<void> {
  try {
    await step();
  } catch (error) {
    logger.error(`recovery: ${what}`, error, facts);
  }
}
