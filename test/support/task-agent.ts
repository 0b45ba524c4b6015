import { hasCode, Waypoint } from "../../src/index.ts";

/** An agent of 20 tasks, some of which ask a server that counts; it is killed and started again. */
const [stateDir = "", name = "", url = ""] = process.argv.slice(2);
export const TASKS = 20;
/** Tasks that do something outside. */
export const OUTSIDE = [2, 3, 5, 8, 11, 13, 17, 19];

async function work(): Promise<void> {
  const waypoint = await Waypoint.open({ stateDir });
  const session = await waypoint.session(name);
  const known = await session.tasks.list();
  for (let at = known.length + 1; at <= TASKS; at += 1) {
    await session.tasks.add({
      id: String(at),
      title: `task ${at}`,
      after: at > 1 ? [`${at - 1}`] : [],
    });
  }
  process.stdout.write("ready\n");
  await session.tasks.run(async ({ id }, atEnd) => {
    const outcome = OUTSIDE.includes(Number(id))
      ? await session.effect(`ask-${id}`, { input: { id } }, async () => {
          const response = await fetch(`${url}/${id}`, { method: "POST" });
          return await response.text();
        })
      : id;
    atEnd.append("conversation", [`did ${id}`]);
    return outcome;
  });
}

if (process.argv[1]?.endsWith("task-agent.ts") === true) {
  await work().catch((error: unknown) => {
    if (!hasCode(error, "EFFECT_UNKNOWN")) throw error;
    process.stderr.write("unknown\n");
    process.exit(3);
  });
}
