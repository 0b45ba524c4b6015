import { hasCode, WaypointError } from "../../../shared/errors/index.ts";
import type { Verified } from "../../../shared/protocol/index.ts";
import { eachLine } from "../../client/index.ts";
import { call, callStream, type Invocation, printResult } from "../context.ts";
import { EXIT_CODE_NOT_PASSED, EXIT_CODE_NOT_VERIFIED } from "../exit-codes.ts";
import { renderVerified } from "../render-verification.ts";
import { printable } from "../text/printable.ts";
import { shownCommand } from "../text/secrets.ts";

/** Of the command line alone. */
interface VerifyOptions {
  set?: string;
  unset?: string;
  forget?: boolean;
  automatic: boolean;
}

/** Runs a command against checkpoints, chooses that of a session, or forgets what one has said. */
export async function run(invocation: Invocation<VerifyOptions, "verify">): Promise<number> {
  const { set, unset, forget } = invocation.options;
  if (forget === true) return await forgetVerdicts(invocation);
  return set === undefined && unset === undefined
    ? await verify(invocation)
    : await chooseCommand(invocation);
}

/** @throws USAGE_INVALID  something else is asked for as well, or no command is given. */
async function chooseCommand({
  context,
  rest,
  afterDashes,
  input,
  options: { set, unset, automatic },
}: Invocation<VerifyOptions, "verify">): Promise<number> {
  const command = set === undefined ? [] : afterDashes;
  const isMixed =
    (set !== undefined && unset !== undefined) ||
    rest.length > command.length ||
    input.session !== undefined;
  if (isMixed || (set !== undefined && command.length === 0)) {
    throw new WaypointError("USAGE_INVALID", "--set takes one session and a command after --.", {
      hint: "`waypoint verify --set web -- npm test`, or `waypoint verify --unset web`.",
    });
  }
  if (input.timeoutMs !== undefined) {
    throw new WaypointError("USAGE_INVALID", "--timeout is of one run, and not kept with --set.", {
      hint: "Leave it out, or put a limit into the command: `timeout 60 npm test`.",
    });
  }
  const session = set ?? unset ?? "";
  const chosen = await call(context, "verify.set", {
    session,
    command: set === undefined ? null : [...command],
    automatic,
  });
  await printResult(context, chosen, ({ name, verifyCommand }) => [
    verifyCommand === null
      ? `Session ${printable(name)} has no verify command.`
      : `Session ${printable(name)} is verified with ${shownCommand(verifyCommand)}`,
  ]);
  return 0;
}

/** @throws USAGE_INVALID  no checkpoint is named. */
async function forgetVerdicts({
  context,
  rest,
  afterDashes,
}: Invocation<VerifyOptions, "verify">): Promise<number> {
  const result = await call(context, "verify.forget", splitWords(rest, afterDashes));
  await printResult(context, result, ({ forgotten }) => [
    forgotten === 0
      ? "There was no verification to forget."
      : `Forgot ${forgotten} verification${forgotten === 1 ? "" : "s"}.`,
  ]);
  return 0;
}

/** Prints each result as it comes. */
async function verify({
  context,
  rest,
  afterDashes,
  input: typed,
}: Invocation<VerifyOptions, "verify">): Promise<number> {
  const { output, isJson } = context;
  const input = { ...typed, ...splitWords(rest, afterDashes) };
  const summary = await callStream(context, "verify", input, async (stream) => {
    await eachLine(stream, async (verified: Verified) => {
      if (isJson) await output.json(verified);
      else await output.lines(renderVerified(verified, output.paint, output.columns));
    });
    return await stream.result;
  }).catch((error: unknown) => {
    throw afterDashes.length === 0 ? withDashesHint(error) : error;
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

/** Checkpoints are named before `--`, the command after it; without one it is that of the session. */
function splitWords(words: readonly string[], command: readonly string[]) {
  const checkpoints = words.slice(0, words.length - command.length);
  return { checkpoints, ...(command.length === 0 ? {} : { command: [...command] }) };
}

/** A word of a command that nothing separates from the checkpoints is taken for one of these. */
function withDashesHint(error: unknown): unknown {
  if (!hasCode(error, "CHECKPOINT_NOT_FOUND")) return error;
  return new WaypointError("USAGE_INVALID", error.message, {
    hint: "Put -- before the command: `waypoint verify web@ -- npm test`.",
    detail: error.detail,
  });
}
