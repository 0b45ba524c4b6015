import { expect, test } from "vitest";
import type { Catalog } from "../../src/portable/catalog/index.ts";
import { COMMAND, OPERATION, story, VERIFIED } from "./catalog-rows.ts";
import { sessionRow } from "./fake-rows.ts";

/** Tells what a catalog takes back, keeps at most and forgets: a part of its conformance suite. */
export function catalogBounds(opened: () => Catalog): void {
  test("takes a quick transaction back whole, and has nothing of it to sync", () => {
    const catalog = opened();
    catalog.insertSession(sessionRow());

    const fail = () =>
      catalog.quickTransaction(() => {
        catalog.updateSession("s1", { head: "c1" });
        throw new Error("no");
      });

    expect(fail).toThrow("no");
    catalog.sync();
    expect(catalog.sessions()).toEqual([sessionRow()]);
  });

  test("keeps the newest 500 commands of an instance, and all of another", () => {
    const { commands } = opened();
    commands.add({ ...COMMAND, instance: "other" });
    for (let n = 0; n < 502; n += 1) commands.add({ ...COMMAND, command: `make ${n}` });

    const kept = commands.between("s1-1", 0, commands.last());
    expect([kept.length, kept[0]?.command, kept.at(-1)?.command]).toEqual([
      ...[500, "make 2", "make 501"],
    ]);
    expect(commands.between("other", 0, commands.last())).toHaveLength(1);
    commands.deleteForgotten();
    expect(commands.between("s1-1", 0, commands.last())).toEqual([]);
  });

  test("keeps the newest 100 verifications of a checkpoint, and what says its own command", () => {
    const { verifications } = opened();
    verifications.add({ ...VERIFIED, checkpoint: "c2" });
    verifications.add({ ...VERIFIED, by: "checkpoint", exitCode: 1 });
    for (let n = 0; n < 102; n += 1) verifications.add({ ...VERIFIED, command: `true ${n}` });

    const kept = verifications.of("c1").map(({ command }) => command);
    expect([kept.length, kept[0], kept[99], kept[100]]).toEqual([
      ...[101, "true 101", "true 2", VERIFIED.command],
    ]);
    verifications.deleteOf("c1");
    expect([verifications.of("c1").length, verifications.of("c2").length]).toEqual([0, 1]);
  });

  test("forgets the operations of one session, with their paths, and of no other", () => {
    const { operations } = opened();
    const gone = operations.insert(OPERATION);
    const kept = operations.insert({ ...OPERATION, session: "s2" });
    for (const id of [gone, kept]) operations.putPaths(id, ["/srv/a"]);
    operations.deleteOf("s1");

    expect(operations.all().map(({ id }) => id)).toEqual([kept]);
    expect([operations.paths(gone), operations.paths(kept)]).toEqual([[], ["/srv/a"]]);
  });

  test("finds what stories say, as it is and in whatever case, until they are deleted", async () => {
    const { stories } = opened();
    stories.put(story("c1", { text: "100% done" }));
    stories.put(story("c2", { text: "1000 done" }));

    expect([...(await stories.saying("0% DONE"))]).toEqual(["c1"]);
    expect([...(await stories.saying("done"))].toSorted()).toEqual(["c1", "c2"]);
    stories.delete("c1");
    expect([...(await stories.saying("done"))]).toEqual(["c2"]);
    expect(stories.of("c1")).toBeUndefined();
  });
}
