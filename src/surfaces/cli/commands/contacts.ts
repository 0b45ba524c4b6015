import { call, type Invocation, printLong } from "../context.ts";
import { renderContacts } from "../render-contacts.ts";

/** Shows whom a session talked to. */
export async function run({ context, input }: Invocation<object, "contacts">): Promise<undefined> {
  const result = await call(context, "contacts", input);
  await printLong(context, result, (shown) => {
    const lines = renderContacts(shown);
    return lines.length === 0 ? ["It has talked to nobody outside."] : lines;
  });
}
