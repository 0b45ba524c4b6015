import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Catalog, SessionMirror } from "../../src/portable/catalog/index.ts";
import { catalogBounds } from "./catalog-bounds.ts";
import { COMMAND, OPERATION, story, VERIFIED } from "./catalog-rows.ts";
import { catalogVerdicts } from "./catalog-verdicts.ts";
import { checkpointRow, sessionRow } from "./fake-rows.ts";

/** How the suite gets at the catalogs that it tries. */
export interface CatalogMaker {
  /** Opens one; the same place always has the same catalog. */
  open: (mirror: SessionMirror) => Catalog;
  /** Removes what lies there. */
  remove: () => void;
}

/** Tells of each catalog, whatever keeps it, that it does what {@link Catalog} says. */
export function catalogConformance(name: string, make: () => CatalogMaker): void {
  describe(`the catalog in ${name}`, () => {
    let maker: CatalogMaker;
    let catalog: Catalog;
    let mirrored: [string, string | null][];

    const open = () => maker.open((id, row) => void mirrored.push([id, row?.name ?? null]));
    const reopen = () => {
      catalog[Symbol.dispose]();
      catalog = open();
    };

    beforeEach(() => {
      mirrored = [];
      maker = make();
      catalog = open();
    });

    afterEach(() => {
      catalog[Symbol.dispose]();
      maker.remove();
    });

    test("says whether it was made by opening it, and keeps what was written", () => {
      const wasNew = catalog.isNew;
      catalog.insertSession(sessionRow());
      reopen();

      expect([wasNew, catalog.isNew]).toEqual([true, false]);
      expect(catalog.sessions()).toEqual([sessionRow()]);
    });

    test("finds sessions by id and by name, in the order of their making", () => {
      const later = sessionRow({ id: "s0", name: "later", createdAt: "2099-01-01T00:00:00.000Z" });
      catalog.insertSession(later);
      catalog.insertSession(sessionRow());

      expect(catalog.sessions().map(({ id }) => id)).toEqual(["s1", "s0"]);
      expect(catalog.session("s0")).toEqual(later);
      expect(catalog.sessionByName("later")).toEqual(later);
      expect([catalog.session("none"), catalog.sessionByName("none")]).toEqual([
        undefined,
        undefined,
      ]);
    });

    test("changes what is given of a row, lists too, and leaves the rest", () => {
      const binds = [{ source: "/data", target: "/mnt", readOnly: true }];
      catalog.insertSession(sessionRow({ binds }));
      catalog.updateSession("s1", { head: "c9" });

      expect(catalog.session("s1")).toEqual(sessionRow({ binds, head: "c9" }));
    });

    test("refuses a second session of a name, and leaves nothing of it", () => {
      catalog.insertSession(sessionRow());

      expect(() => catalog.insertSession(sessionRow({ id: "s2" }))).toThrow();
      expect(catalog.sessions()).toHaveLength(1);
    });

    test("tells the mirror of each session once it is written, and that it is gone", () => {
      catalog.insertSession(sessionRow());
      catalog.transaction(() => {
        catalog.updateSession("s1", { head: "c1" });
        catalog.updateSession("s1", { head: "c2" });
      });
      catalog.deleteSession("s1");

      const { name: called } = sessionRow();
      expect(mirrored).toEqual([
        ["s1", called],
        ["s1", called],
        ["s1", null],
      ]);
    });

    test("takes a transaction back whole, and tells no mirror of it", () => {
      catalog.insertSession(sessionRow());
      const toldBefore = mirrored.length;

      const fail = () =>
        catalog.transaction(() => {
          catalog.updateSession("s1", { head: "c1" });
          catalog.insertCheckpoint(checkpointRow());
          throw new Error("no");
        });

      expect(fail).toThrow("no");
      expect(catalog.session("s1")).toEqual(sessionRow());
      expect(catalog.checkpoints()).toEqual([]);
      expect(mirrored).toHaveLength(toldBefore);
    });

    test("has a quick transaction at once, and tells the mirror when it is synced", () => {
      catalog.insertSession(sessionRow());
      catalog.quickTransaction(() => catalog.updateSession("s1", { head: "c1" }));
      const toldBefore = mirrored.length;
      catalog.sync();
      catalog.sync();

      expect(catalog.session("s1")?.head).toBe("c1");
      expect(mirrored.length - toldBefore).toBe(1);
    });

    test("keeps instances until they are deleted", () => {
      catalog.insertInstance({ id: "s1-1", session: "s1", pid: 70, startTicks: 7 });
      catalog.updateInstance("s1-1", { pid: 71 });
      reopen();

      expect(catalog.instance("s1-1")).toMatchObject({ session: "s1", pid: 71, startTicks: 7 });
      expect(catalog.instances()).toHaveLength(1);
      catalog.deleteInstance("s1-1");
      expect([catalog.instance("s1-1"), catalog.instances()]).toEqual([undefined, []]);
    });

    test("finds checkpoints by id, name, prefix and session, in the order of their making", () => {
      const rows = [
        checkpointRow({ id: "ab1", name: "first" }),
        checkpointRow({ id: "ab2", parent: "ab1", session: "s2" }),
        checkpointRow({ id: "cd1", parent: "ab1" }),
      ];
      for (const row of rows) catalog.insertCheckpoint(row);

      expect(catalog.checkpoints()).toEqual(rows);
      expect(catalog.checkpoints("s1").map(({ id }) => id)).toEqual(["ab1", "cd1"]);
      expect(catalog.checkpoint("ab2")).toEqual(rows[1]);
      expect(catalog.checkpointByName("first")).toEqual(rows[0]);
      expect(catalog.checkpointsByPrefix("ab", 9).map(({ id }) => id)).toEqual(["ab1", "ab2"]);
      expect(catalog.checkpointsByPrefix("ab", 1)).toHaveLength(1);
      expect(catalog.checkpointsByPrefix("a%", 9)).toEqual([]);
      expect(catalog.timeline().map(({ id, name }) => [id, name])).toEqual([
        ["ab1", "first"],
        ["ab2", null],
        ["cd1", null],
      ]);
      expect(() => catalog.insertCheckpoint(checkpointRow({ id: "ab1" }))).toThrow();
    });

    test("tells what a checkpoint descends from, as far as that is there", () => {
      catalog.insertCheckpoint(checkpointRow({ id: "a", parent: "gone" }));
      catalog.insertCheckpoint(checkpointRow({ id: "b", parent: "a" }));
      catalog.insertCheckpoint(checkpointRow({ id: "other", parent: "a" }));
      catalog.insertCheckpoint(checkpointRow({ id: "c", parent: "b", session: "s2" }));

      expect(catalog.line("c")).toEqual([
        { id: "c", session: "s2", parent: "b" },
        { id: "b", session: "s1", parent: "a" },
        { id: "a", session: "s1", parent: "gone" },
      ]);
      expect(catalog.line("gone")).toEqual([]);
      expect(catalog.line(null)).toEqual([]);
      expect(catalog.lines()).toHaveLength(4);
      expect(catalog.lines()).toContainEqual({ id: "b", session: "s1", parent: "a" });
    });

    test("knows which checkpoints frozen instances hold", () => {
      catalog.insertCheckpoint(checkpointRow({ heldBy: "s1-2" }));
      catalog.insertCheckpoint(checkpointRow({ id: "c2" }));

      expect(catalog.heldCheckpoints().map(({ id }) => id)).toEqual(["c1"]);
      catalog.updateCheckpoint("c1", { heldBy: null });
      expect(catalog.heldCheckpoints()).toEqual([]);
    });

    test("takes what is told of a checkpoint with it, and of a session its operations and ports", () => {
      catalog.insertSession(sessionRow());
      catalog.insertCheckpoint(checkpointRow());
      catalog.verifications.add(VERIFIED);
      catalog.stories.put(story("c1", { text: "made" }));
      catalog.commands.putCapture({ checkpoint: "c1", instance: "x", lastCommand: 0, running: [] });
      catalog.operations.insert(OPERATION);
      catalog.insertForward({ session: "s1", port: 80, hostPort: 8080, to: null });
      catalog.deleteCheckpoint("c1");
      catalog.deleteSession("s1");

      expect(catalog.verifications.of("c1")).toEqual([]);
      expect(catalog.stories.of("c1")).toBeUndefined();
      expect(catalog.commands.capture("c1")).toBeUndefined();
      expect([catalog.operations.all(), catalog.forwards()]).toEqual([[], []]);
    });

    test("keeps ports that lead to the host and to other sessions", () => {
      const toHost = { session: "s1", port: 80, hostPort: 8080, to: null };
      const toSession = { session: "s1", port: 81, hostPort: 9000, to: "s2" };
      catalog.insertForward(toHost);
      catalog.insertForward(toSession);
      reopen();

      expect(catalog.forwards()).toEqual([toHost, toSession]);
      catalog.deleteForward(toHost);
      expect(catalog.forwards()).toEqual([toSession]);
      catalog.deleteForward(toSession);
      expect(catalog.forwards()).toEqual([]);
    });

    test("numbers commands, and forgets those that no instance and no capture needs", () => {
      catalog.insertInstance({ id: "s1-1", session: "s1" });
      catalog.commands.add(COMMAND);
      catalog.commands.add({ ...COMMAND, command: "make test", exitCode: 1 });
      const last = catalog.commands.last();
      const running = [{ ...COMMAND, durationMs: null, exitCode: null }];
      catalog.commands.putCapture({
        checkpoint: "c1",
        instance: "s1-1",
        lastCommand: last,
        running,
      });
      reopen();

      expect(catalog.commands.between("s1-1", 0, last).map(({ command }) => command)).toEqual([
        "make",
        "make test",
      ]);
      expect(catalog.commands.between("s1-1", last - 1, last)).toHaveLength(1);
      expect(catalog.commands.capture("c1")).toEqual({
        ...{ checkpoint: "c1", instance: "s1-1", lastCommand: last, running },
      });
      catalog.deleteInstance("s1-1");
      expect(catalog.commands.between("s1-1", 0, last)).toHaveLength(2);
      catalog.commands.deleteCapture("c1");
      expect(catalog.commands.between("s1-1", 0, last)).toEqual([]);
    });

    test("has what happened in order, what can be undone last, and what was only begun", () => {
      const first = catalog.operations.insert({ ...OPERATION, kind: "new", undo: null });
      const moved = catalog.operations.insert({
        ...OPERATION,
        detail: { state: "begun" } as never,
      });
      catalog.operations.putPaths(moved, ["/srv/a", "/srv/b"]);
      reopen();

      expect(catalog.operations.all("s1").map(({ id }) => id)).toEqual([first, moved]);
      expect(catalog.operations.all("s2")).toEqual([]);
      expect(catalog.operations.lastMove("s1")?.id).toBe(moved);
      expect(catalog.operations.begun().map(({ id }) => id)).toEqual([moved]);
      expect(catalog.operations.paths(moved)).toEqual(["/srv/a", "/srv/b"]);
      catalog.operations.update(moved, { detail: null, readyMs: 7 });
      expect(catalog.operations.get(moved)).toMatchObject({ readyMs: 7, detail: null });
      expect(catalog.operations.begun()).toEqual([]);
    });

    test("finds stories by what they touched and say, and knows which are missing", () => {
      catalog.insertCheckpoint(checkpointRow());
      catalog.insertCheckpoint(checkpointRow({ id: "c2" }));
      const touched = [
        { kind: "path", name: "/srv/app.js" },
        { kind: "folder", name: "/srv/node_modules" },
        { kind: "package", name: "left-pad" },
        { kind: "unknown", name: "commands" },
      ] as const;
      catalog.stories.put(story("c1", { touched, text: "it works" }));
      reopen();

      const { touched: _, text: __, ...row } = story("c1");
      expect([catalog.stories.all(), catalog.stories.of("c1")]).toEqual([[row], row]);
      expect(catalog.stories.missing()).toEqual(["c2"]);
      expect([...catalog.stories.touchingPath("/srv/*.js")]).toEqual(["c1"]);
      expect([...catalog.stories.touchingPath("/srv/node_modules/x")]).toEqual(["c1"]);
      expect([...catalog.stories.touchingPath("/etc")]).toEqual([]);
      expect([...catalog.stories.touchingPackage("left-*")]).toEqual(["c1"]);
      expect([...catalog.stories.unknown("commands")]).toEqual(["c1"]);
      catalog.stories.noteOverBudget("c2", "too large");
      expect(catalog.stories.overBudget("c2")).toEqual({ count: 1, reason: "too large" });
    });

    catalogVerdicts(() => catalog, reopen);
    catalogBounds(() => catalog);
  });
}
