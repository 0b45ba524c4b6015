import { expect, test } from "vitest";
import type { MomentPair, ReadContext } from "../moment/index.ts";
import { compareMoments, WHOLE_SCOPE } from "./compare-moments.ts";
import type { ChangesReader } from "./section.ts";

const PAIR = { from: { name: "a" }, to: { name: "b" } } as MomentPair;
const ENGINE = { logger: { warn: () => {} } } as unknown as ReadContext["engine"];

function context(signal = new AbortController().signal): ReadContext {
  return { scope: WHOLE_SCOPE, engine: ENGINE, signal };
}

function reader(
  sections: ChangesReader["sections"],
  read: ChangesReader["read"],
  said = "",
): ChangesReader {
  return {
    sections,
    read,
    summarize: () => ({ named: said === "" ? [] : [said], counted: [`${sections[0]}s`] }),
  };
}

test("a reader that fails makes its own sections unknown, and no others", async () => {
  const changes = await compareMoments(PAIR, context(), [
    reader(["packages"], () => Promise.reject(new Error("the database is damaged"))),
    reader(["env"], async () => ({ env: [] }), "env"),
    reader(["git"], async () => ({ git: [], unknown: { "git in /srv": "unreadable" } })),
  ]);

  expect(changes).toMatchObject({
    packages: null,
    env: [],
    git: [],
    files: null,
    summary: "env, packagess, envs, gits",
  });
  expect(changes.unknown).toMatchObject({
    packages: "the database is damaged",
    "git in /srv": "unreadable",
  });
  expect(Object.keys(changes.unknown)).not.toContain("env");
});

test("with some sections asked for, no others are read, nor is a neighbour's answer kept", async () => {
  const asked = { ...context(), scope: { ...WHOLE_SCOPE, sections: ["ports"] as const } };

  const changes = await compareMoments(PAIR, asked, [
    reader(["processes", "ports"], async () => ({
      processes: { started: [], ended: [], still: [] },
      ports: { opened: [], closed: [] },
    })),
    reader(["env"], () => Promise.reject(new Error("this was read")), "env"),
  ]);

  expect(changes).toMatchObject({
    ports: { opened: [] },
    processes: null,
    env: null,
    summary: "processess",
  });
  expect(changes.unknown).toMatchObject({ processes: "it was not asked for" });
  expect(changes.unknown["env"]).toBe("it was not asked for");
  expect(changes.unknown["ports"]).toBeUndefined();
});

test("a reader whose summary fails is left out of it", async () => {
  const broken = {
    ...reader(["env"], async () => ({ env: [] })),
    summarize: () => {
      throw new Error("no");
    },
  };

  expect((await compareMoments(PAIR, context(), [broken])).summary).toBe("");
});

test("what was given up is unknown, however long the reader goes on", async () => {
  const controller = new AbortController();
  const forever = reader(["env"], () => new Promise(() => {}));

  const comparing = compareMoments(PAIR, context(controller.signal), [forever]);
  controller.abort();

  expect((await comparing).unknown["env"]).toBe("It was given up while it was read.");
});
