import {
  type ContactJournal,
  type Counted,
  isNothing,
  NOTHING_COUNTED,
  subtractCounted,
} from "../../portable/contacts/index.ts";
import type { CheckpointRow, SessionRow } from "../../portable/model/index.ts";
import type { Contacts } from "../../shared/protocol/index.ts";
import type { ContactBook, Engine } from "../ports/index.ts";
import { brieflyTold, tellContacts } from "./tell-contacts.ts";

/** What a killed daemon has not read by then is told by address alone. */
const NAMES_INTERVAL_MS = 1_000;
/** What an instance had been counted to have at one moment. */
interface ContactMoment {
  instance: string;
  at: string;
  counted: Counted;
  sentPackets: number | null;
}

/** How far back the names of sessions are looked for that a session was forked from. */
const ORIGINS_MAX = 16;

/** A session that asks without end is read along for so many names in that time. */
const NAMES_AT_ONCE = 100;

const ON_HOST = "it uses the host's network";

/** The contacts of one daemon's sessions: the kernel counts, and this notes what it has counted. */
export class ContactCounts implements ContactBook {
  readonly #engine: Engine;
  readonly #journal: ContactJournal;
  /** When an instance was last noted, and how many packets it had sent then, where that is known. */
  readonly #noted = new Map<string, Pick<ContactMoment, "at" | "sentPackets">>();
  readonly #timer: NodeJS.Timeout;

  constructor(engine: Engine, journal: ContactJournal) {
    this.#engine = engine;
    this.#journal = journal;
    this.#timer = setInterval(() => this.#learn(), NAMES_INTERVAL_MS);
    this.#timer.unref();
  }

  capture(
    { id: session, instance }: SessionRow,
    { id, createdAt }: Pick<CheckpointRow, "id" | "createdAt">,
  ): void {
    if (instance !== null) this.#captureOf(instance, session, { id, until: createdAt });
  }

  async settle(instanceId: string | null, checkpoint: string | null): Promise<void> {
    if (instanceId === null) return;
    const { catalog, logger } = this.#engine;
    try {
      const session = catalog.instance(instanceId)?.session;
      if (session === undefined || catalog.session(session) === undefined) return;
      this.#note(await this.#look(instanceId), session);
      const until = new Date().toISOString();
      if (checkpoint !== null) this.#captureOf(instanceId, session, { id: checkpoint, until });
    } catch (error) {
      logger.error("read whom a session talked to", error, { instanceId });
    }
  }

  forgetInstance(instanceId: string): void {
    this.#noted.delete(instanceId);
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

  /** Returns what an instance has been counted to have; `null` where it has sent nothing since it was noted. */
  async #look(instance: string): Promise<ContactMoment | null> {
    const { network, catalog } = this.#engine;
    const at = new Date().toISOString();
    const sentPackets = network.contacts.sentPackets(instance);
    if (sentPackets !== null && sentPackets === this.#noted.get(instance)?.sentPackets) return null;
    const address = catalog.instance(instance)?.address ?? null;
    if (sentPackets === null && address === null) return null;
    const counted = await network.contacts.read(instance, address);
    return counted === null ? null : { instance, at, counted, sentPackets };
  }

  #note(moment: ContactMoment | null, session: string): void {
    if (moment === null) return;
    const { instance, at, counted, sentPackets } = moment;
    // Somebody who began to look later has noted more than this: counted again it would look like new counters.
    if (at < (this.#noted.get(instance)?.at ?? "")) return;
    this.#attempt("note whom a session talked to", () => {
      const since = subtractCounted(counted, this.#journal.countedOf(instance));
      if (!isNothing(since)) this.#journal.note({ session, instance, at, since }, counted);
      this.#noted.set(instance, { at, sentPackets });
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
