/** Somebody outside, and how many bytes went there and came back. */
export interface Contact {
  address: string;
  /** "tcp", "udp", …; a number where it has no name. */
  protocol: string;
  /** `null` where the protocol has none. */
  port: number | null;
  sentBytes: number;
  receivedBytes: number;
}

/** What was counted: each contact once, and what is not listed. */
export interface Counted {
  contacts: Contact[];
  more: { sentBytes: number; receivedBytes: number };
}

/** A name, and the addresses that it was said to have. */
export interface NamedAddresses {
  name: string;
  addresses: string[];
}

/** Whom sessions talked to. What it is told survives the death of this process. */
export interface ContactJournal extends Disposable {
  /** Returns what an instance had been counted to have when it was last noted. */
  countedOf(instance: string): Counted;
  /** Notes what came since the last time, and where the next time begins. */
  note(
    interval: { session: string; instance: string; at: string; since: Counted },
    counted: Counted,
  ): void;
  /**
   * Gives a checkpoint what was noted of its instance since the one before, until it captured that.
   *
   * @param describe  returns the same in a few words, for a timeline.
   */
  capture(
    instance: string,
    checkpoint: { id: string; until: string },
    describe: (since: Counted) => string,
  ): void;
  /** Returns what was noted of a session after a moment, added up. */
  after(session: string, at: string): Counted;
  /** Returns what was noted with a checkpoint. */
  of(checkpoint: string): Counted;
  /** Returns the words for each checkpoint that has some. */
  briefs(): Map<string, string>;
  /** Notes the names that a session asked for; what it knew longest goes where there are too many. */
  learn(session: string, names: readonly NamedAddresses[]): void;
  /** Returns by which names a session knows addresses, the newest first. */
  namesOf(session: string): Map<string, string[]>;
  /** Forgets a session. */
  remove(session: string): void;
  /** Forgets where an instance that is gone was last counted. */
  forgetInstance(instance: string): void;
}

export const NOTHING_COUNTED: Counted = {
  contacts: [],
  more: { sentBytes: 0, receivedBytes: 0 },
};

/** Tells whether nobody was talked to. */
export function isNothing({ contacts, more }: Counted): boolean {
  return contacts.length === 0 && more.sentBytes === 0 && more.receivedBytes === 0;
}

/** Returns what came between two counts; a counter that began anew has counted since then alone. */
export function subtractCounted(now: Counted, before: Counted): Counted {
  const known = new Map(before.contacts.map((contact) => [keyOf(contact), contact]));
  const contacts = now.contacts.flatMap((contact) => {
    const grown = grownBy(contact, known.get(keyOf(contact)));
    return grown.sentBytes + grown.receivedBytes === 0 ? [] : [{ ...contact, ...grown }];
  });
  return { contacts, more: grownBy(now.more, before.more) };
}

/** Returns what was counted at several times, each contact once. */
export function addCounted(counts: readonly Counted[]): Counted {
  const contacts = new Map<string, Contact>();
  const more = { sentBytes: 0, receivedBytes: 0 };
  for (const counted of counts) {
    more.sentBytes += counted.more.sentBytes;
    more.receivedBytes += counted.more.receivedBytes;
    for (const contact of counted.contacts) {
      const known = contacts.get(keyOf(contact));
      contacts.set(keyOf(contact), {
        ...contact,
        sentBytes: contact.sentBytes + (known?.sentBytes ?? 0),
        receivedBytes: contact.receivedBytes + (known?.receivedBytes ?? 0),
      });
    }
  }
  return { contacts: [...contacts.values()], more };
}

/** Returns the same with so many contacts at most, the largest; the others are added up. */
export function keepLargest(counted: Counted, countMax: number): Counted {
  const sorted = counted.contacts.toSorted((a, b) => totalOf(b) - totalOf(a));
  const more = { ...counted.more };
  for (const { sentBytes, receivedBytes } of sorted.slice(countMax)) {
    more.sentBytes += sentBytes;
    more.receivedBytes += receivedBytes;
  }
  return { contacts: sorted.slice(0, countMax), more };
}

function totalOf({ sentBytes, receivedBytes }: Contact): number {
  return sentBytes + receivedBytes;
}

function keyOf({ address, protocol, port }: Contact): string {
  return `${address} ${protocol} ${port}`;
}

function grownBy(
  now: Counted["more"],
  before: Counted["more"] = NOTHING_COUNTED.more,
): Counted["more"] {
  const isNew = now.sentBytes < before.sentBytes || now.receivedBytes < before.receivedBytes;
  const base = isNew ? NOTHING_COUNTED.more : before;
  return {
    sentBytes: now.sentBytes - base.sentBytes,
    receivedBytes: now.receivedBytes - base.receivedBytes,
  };
}
