import { WaypointError } from "../../../shared/errors/index.ts";
import type { Verified } from "../../../shared/protocol/index.ts";
import { eachLine } from "../../client/index.ts";
import { callStream, type Invocation } from "../context.ts";
import { EXIT_CODE_NOT_PASSED, EXIT_CODE_NOT_VERIFIED } from "../exit-codes.ts";
import { renderVerified } from "../render-verification.ts";

/** Runs a command against checkpoints; prints each result as it comes. */
export async function run({
  context,
  rest,
  afterDashes,
  input: typed,
}: Invocation<object, "verify">): Promise<number> {
  const { output, isJson } = context;
  const input = { ...typed, ...splitWords(rest, afterDashes) };
  const summary = await callStream(context, "verify", input, async (stream) => {
    await eachLine(stream, async (verified: Verified) => {
      if (isJson) await output.json(verified);
      else await output.lines(renderVerified(verified, output.paint));
    });
    return await stream.result;
  });
  const { results, passed, failed, notVerified } = summary;
  const [only] = results;
  if (results.length === 1 && only?.error?.hint != null && !isJson) output.note(only.error.hint);
  if (results.length > 1 && !isJson) {
    const rest = notVerified === 0 ? "" : `, ${notVerified} not verified`;
    await output.lines([`${passed} passed, ${failed} failed${rest}.`]);
  }
  if (notVerified > 0) return EXIT_CODE_NOT_VERIFIED;
  return failed > 0 ? EXIT_CODE_NOT_PASSED : 0;
}

/** Checkpoints are named before `--`, the command after it. */
function splitWords(words: readonly string[], command: readonly string[]) {
  if (command.length === 0) {
    throw new WaypointError("USAGE_INVALID", "There is no command to verify with.", {
      hint: "Put -- before the command: `waypoint verify web@ -- npm test`.",
    });
  }
  return { checkpoints: words.slice(0, words.length - command.length), command: [...command] };
}
