import { WaypointError } from "../../../shared/errors/index.ts";
import { noiseFor } from "../config/use-config.ts";
import { confirmTyping } from "../confirm-typing.ts";
import { type CommandContext, call, type Invocation } from "../context.ts";
import { renderMove } from "../render-move.ts";
import { Picker } from "../rewind/picker.ts";
import { showPicker } from "../rewind/show-picker.ts";
import { hasTerminal } from "../terminal/has-terminal.ts";

/** Lets a person choose a checkpoint on the whole screen, and puts the session back to it. */
export async function run({ context, args }: Invocation): Promise<undefined> {
  requireTerminal(context);
  const noise = await noiseFor(context);
  const session = await chooseSession(context, args[0]);
  const log = await call(context, "log", { session: session.id });
  if (log.checkpoints.length === 0) {
    throw new WaypointError(
      "CHECKPOINT_NOT_FOUND",
      `Session ${session.name} has no checkpoint yet.`,
      { hint: `Take one with \`waypoint checkpoint ${session.name}\`.` },
    );
  }
  let picker: Picker | undefined;
  const checkpoint = await showPicker((screen) => {
    picker = new Picker(context, { session, log, noise }, screen);
    return picker;
  });
  await context.output.lines((await picker?.forked()) ?? []);
  if (checkpoint === null) return;
  const moved = await confirmTyping(context, { isAnswered: false }, (typing) =>
    call(context, "restore", { session: session.id, checkpoint, check: true, ...typing }),
  );
  const told = { moved, sessionRef: session.name, verb: "is back at", loss: {} };
  await context.output.lines(renderMove(told));
}

function requireTerminal({ isJson }: CommandContext): void {
  if (hasTerminal() && !isJson && process.env["TERM"] !== "dumb") return;
  const why = isJson ? "It is for people, and has no JSON." : "Run it where you can type.";
  throw new WaypointError("USAGE_INVALID", "rewind needs a terminal with a screen of its own.", {
    hint: `${why} \`waypoint log\`, \`diff\` and \`restore\` do the same without one.`,
  });
}

/** The one that is named, or the only one. @throws SESSION_NOT_FOUND | USAGE_INVALID */
async function chooseSession(
  context: CommandContext,
  reference: string | undefined,
): Promise<{ id: string; name: string }> {
  if (reference !== undefined) {
    // The daemon knows how a session is named; its log has this one alone.
    const { sessions } = await call(context, "log", { session: reference, limit: 1 });
    return sessions[0] as { id: string; name: string };
  }
  const { sessions } = await call(context, "ls", {});
  const [only] = sessions;
  if (only !== undefined && sessions.length === 1) return only;
  throw new WaypointError(
    "USAGE_INVALID",
    only === undefined ? "There is no session." : "There are several sessions: name one.",
    { hint: only === undefined ? "`waypoint new` starts one." : "`waypoint ls` lists them." },
  );
}
