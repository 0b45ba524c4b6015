import {
  type ContactJournal,
  isNothing,
  NOTHING_COUNTED,
  subtractCounted,
} from "../../portable/contacts/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { Contacts } from "../../shared/protocol/index.ts";
import type { ContactBook, ContactMoment, Engine } from "../ports/index.ts";
import { brieflyTold, tellContacts } from "./tell-contacts.ts";

/** What a killed daemon has not read by then is told by address alone. */
const NAMES_INTERVAL_MS = 1_000;
/** How far back the names of sessions are looked for that a session was forked from. */
const ORIGINS_MAX = 16;

/** A session that asks without end is read along for so many names in that time. */
const NAMES_AT_ONCE = 100;

const ON_HOST = "it uses the host's network";

/** The contacts of one daemon's sessions: the kernel counts, and this notes what it has counted. */
export class ContactCounts implements ContactBook {
  readonly #engine: Engine;
  readonly #journal: ContactJournal;
  /** How many packets an instance had sent when it was last noted. */
  readonly #notedPackets = new Map<string, number>();
  readonly #timer: NodeJS.Timeout;

  constructor(engine: Engine, journal: ContactJournal) {
    this.#engine = engine;
    this.#journal = journal;
    this.#timer = setInterval(() => this.#learn(), NAMES_INTERVAL_MS);
    this.#timer.unref();
  }

  async look(instanceId: string | null): Promise<ContactMoment | null> {
    if (instanceId === null) return null;
    const { network, catalog, logger } = this.#engine;
    try {
      const at = new Date().toISOString();
      const sentPackets = network.contacts.sentPackets(instanceId);
      if (sentPackets !== null && sentPackets === this.#notedPackets.get(instanceId)) return null;
      const address = catalog.instance(instanceId)?.address ?? null;
      if (sentPackets === null && address === null) return null;
      const counted = await network.contacts.read(instanceId, address);
      return counted === null ? null : { instance: instanceId, at, counted, sentPackets };
    } catch (error) {
      logger.error("read whom a session talked to", error, { instanceId });
      return null;
    }
  }

  capture(
    moment: ContactMoment | null,
    session: SessionRow,
    { id, createdAt }: Pick<CheckpointRow, "id" | "createdAt">,
  ): void {
    if (session.instance === null) return;
    this.#note(moment, session.id);
    this.#captureOf(session.instance, session.id, { id, until: createdAt });
  }

  async settle(instanceId: string, checkpoint: string | null): Promise<void> {
    const { catalog } = this.#engine;
    const session = catalog.instance(instanceId)?.session;
    if (session === undefined || catalog.session(session) === undefined) return;
    this.#note(await this.look(instanceId), session);
    const until = new Date().toISOString();
    if (checkpoint !== null) this.#captureOf(instanceId, session, { id: checkpoint, until });
  }

  forgetInstance(instanceId: string): void {
    this.#notedPackets.delete(instanceId);
    this.#attempt("forget what an instance had counted", () =>
      this.#journal.forgetInstance(instanceId),
    );
  }

  async since(session: SessionRow, checkpoint: CheckpointRow | null): Promise<Contacts> {
    if (session.net === "host")
      return { ...tellContacts(NOTHING_COUNTED, new Map()), unknown: ON_HOST };
    const instances = this.#engine.catalog.instances().filter((row) => row.session === session.id);
    for (const { id } of instances) await this.settle(id, null);
    this.#learn();
    const counted = this.#journal.after(session.id, checkpoint?.createdAt ?? "");
    return tellContacts(counted, this.#namesOf(session.id));
  }

  of(checkpoint: CheckpointRow): Contacts {
    const told = tellContacts(this.#journal.of(checkpoint.id), this.#namesOf(checkpoint.session));
    return checkpoint.net === "host" ? { ...told, unknown: ON_HOST } : told;
  }

  briefs(): Map<string, string> {
    return this.#journal.briefs();
  }

  forget(session: string): void {
    this.#attempt("forget whom a session talked to", () => this.#journal.remove(session));
  }

  close(): void {
    clearInterval(this.#timer);
    this.#learn();
    this.#engine.network.contacts.close();
    this.#journal[Symbol.dispose]();
  }

  #note(moment: ContactMoment | null, session: string): void {
    if (moment === null) return;
    const { instance, at, counted, sentPackets } = moment;
    this.#attempt("note whom a session talked to", () => {
      const since = subtractCounted(counted, this.#journal.countedOf(instance));
      if (!isNothing(since)) this.#journal.note({ session, instance, at, since }, counted);
      if (sentPackets !== null) this.#notedPackets.set(instance, sentPackets);
    });
  }

  #captureOf(instance: string, session: string, checkpoint: { id: string; until: string }): void {
    this.#attempt("note whom a session talked to", () =>
      this.#journal.capture(instance, checkpoint, (since) => {
        this.#learn();
        return brieflyTold(since, this.#namesOf(session));
      }),
    );
  }

  /** Takes the names that sessions were answered. */
  #learn(): void {
    this.#attempt("learn the names that a session asked for", () => {
      const { network, catalog } = this.#engine;
      for (const { instanceId, answers } of network.contacts.takeNames()) {
        const session = catalog.instance(instanceId)?.session;
        if (session === undefined) continue;
        const names = answers.slice(0, NAMES_AT_ONCE).map(({ name, addresses }) => ({
          name,
          addresses: addresses.map(({ address }) => address),
        }));
        this.#journal.learn(session, names);
      }
    });
  }

  /** What cannot be noted must not be in the way of what it is noted of. */
  #attempt(what: string, step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#engine.logger.error(what, error);
    }
  }

  /** A fork may go on with an address that its origin has asked for. */
  #namesOf(sessionId: string): Map<string, string[]> {
    const { catalog } = this.#engine;
    const names = new Map<string, string[]>();
    let id: string | undefined = sessionId;
    for (let count = 0; id !== undefined && count < ORIGINS_MAX; count += 1) {
      for (const [address, known] of this.#journal.namesOf(id)) {
        if (!names.has(address)) names.set(address, known);
      }
      const { forkedFrom = null }: Partial<SessionRow> = catalog.session(id) ?? {};
      id = forkedFrom === null ? undefined : catalog.checkpoint(forkedFrom)?.session;
    }
    return names;
  }
}
