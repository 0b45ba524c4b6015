import { hasCode } from "../../shared/errors/index.ts";
import { confirm, hasAsker } from "./confirm.ts";
import type { CommandContext } from "./context.ts";

/**
 * Puts a session back; where somebody is typing in it, says so and asks a person first.
 *
 * @throws TERMINAL_IN_USE  somebody is typing, and there is nobody to ask.
 * @throws CANCELLED        the answer was not yes.
 */
export async function confirmTyping<T>(
  context: CommandContext,
  { isAnswered }: { isAnswered: boolean },
  move: (choice: { whileTyping?: boolean }) => Promise<T>,
): Promise<T> {
  try {
    return await move(isAnswered ? { whileTyping: true } : {});
  } catch (error) {
    if (!hasCode(error, "TERMINAL_IN_USE") || !hasAsker(context)) throw error;
    const question = `${error.message} Put it back all the same?`;
    await confirm(context, { question, isAnswered: false });
    return await move({ whileTyping: true });
  }
}
