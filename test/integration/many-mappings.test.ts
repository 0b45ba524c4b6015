import { afterAll, beforeAll, expect, test } from "vitest";
import type { Session } from "../../src/index.ts";
import { openTestWaypoint, type TestWaypoint } from "../support/test-waypoint.ts";

/** More than is read of a task before CRIU asks for it, so that the reader stands in the middle of one. */
const MAPPINGS = 12_000;
/** Neighbours with other rights are mappings of their own; each knows its number. */
const PROGRAM = `import mmap, os, time
held = []
for number in range(${MAPPINGS}):
    rights = mmap.PROT_READ | mmap.PROT_WRITE | (mmap.PROT_EXEC if number % 2 else 0)
    held.append(mmap.mmap(-1, 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, prot=rights))
    held[-1][:4] = number.to_bytes(4, "little")
me = f"/root/{os.getpid()}"
open(me + ".ready", "w").close()
while not os.path.exists("/root/ask"): time.sleep(0.02)
right = all(each[:4] == number.to_bytes(4, "little") for number, each in enumerate(held))
lines = sum(1 for line in open("/proc/self/maps"))
open(me + ".answer", "w").write("right" if right and lines > ${MAPPINGS} else f"wrong, {lines} mappings")
time.sleep(10000)
`;

let own: TestWaypoint;
let session: Session;

beforeAll(async () => {
  own = await openTestWaypoint();
  session = await own.waypoint.new();
});

afterAll(() => own?.[Symbol.asyncDispose]());

test("programs with thousands of mappings each come back with all of them", async () => {
  await session.exec(`cat > /root/many.py <<'END'\n${PROGRAM}\nEND`);
  await session.exec("for each in 1 2 3; do python3 /root/many.py & done", { shell: "own" });
  await session.exec("until test $(ls /root/*.ready | wc -l) = 3; do sleep 0.1; done");

  const checkpoint = await session.checkpoint();
  await session.exec("pkill -f many.py");
  await session.restore(checkpoint);
  await session.exec("touch /root/ask");
  const { stdout } = await session.exec(
    "until test $(cat /root/*.answer | grep -o '[rw]' | wc -l) -ge 3; do sleep 0.1; done; cat /root/*.answer",
  );

  expect(stdout).toBe("rightrightright");
});
