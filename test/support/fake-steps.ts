import path from "node:path";
import { isAsyncFunction } from "node:util/types";
import { whatIsLeft } from "./fake-left.ts";

/** Names of the methods of an object's parts, and of the parts of these: `store.images.sum`. */
export type Methods<T> = {
  [K in keyof T & string]: NonNullable<T[K]> extends Method
    ? K
    : `${K}.${MethodsWithin<NonNullable<T[K]>>}`;
}[keyof T & string];
type MethodsWithin<T> = {
  [K in keyof T & string]: T[K] extends Method
    ? K
    : `${K}.${{ [L in keyof T[K] & string]: T[K][L] extends Method ? L : never }[keyof T[K] & string]}`;
}[keyof T & string];
type Method = (...given: never[]) => unknown;

/** What a fake returns, or how it works that out; an object is a part with methods of its own. */
export type Answers = Readonly<Record<string, unknown>>;

/**
 * The calls of fake parts, in order, each as its name and what it was given of names, numbers and the ends of
 * paths: `store.deleteCheckpoint c1`; one that fails ends with `fails`.
 */
export class FakeSteps<Step extends string> {
  readonly #answers: Map<string, unknown>;
  readonly #failures = new Map<string, { error: unknown; timesLeft: number }>();
  readonly #meanwhile = new Map<string, () => void>();
  readonly #looks: readonly RegExp[];
  readonly #notes: string[] = [];
  readonly #parts = new Map<string, object>();

  /** @param looks  names of methods that are not noted. */
  constructor(answers: (steps: FakeSteps<string>) => Answers, looks: readonly RegExp[]) {
    this.#answers = new Map(Object.entries(answers(this)));
    this.#looks = looks;
  }

  /** All calls so far. */
  get all(): readonly string[] {
    return this.#notes;
  }

  /** Begins anew: what a test has set up is no step. */
  forget(): void {
    this.#notes.length = 0;
  }

  /** What the steps so far have made and not removed again. */
  left(): string[] {
    return whatIsLeft(this.#notes);
  }

  /** Makes a step fail from now on. @param times  after so many failures it works again */
  fail(step: Step, error: unknown = new Error(`${step} failed`), times = Infinity): void {
    this.#failures.set(step, { error, timesLeft: times });
  }

  /** Does something whenever a step is asked for, before it answers. */
  during(step: Step, act: () => void): void {
    this.#meanwhile.set(step, act);
  }

  /** Has a step answer in this way from now on; one that is not `async` throws where it fails. */
  answer(step: Step, work: (...given: never[]) => unknown): void {
    this.#answers.set(step, work);
  }

  /** Notes something that is no call, such as the end of what a call has handed out. */
  note(what: string): void {
    this.#notes.push(what);
  }

  /** Returns a part whose methods are noted; those of `real`, where it is given, work. */
  part(name: string, real?: object): object {
    const known = this.#parts.get(name);
    if (known !== undefined) return known;
    const methods = new Map<string, unknown>();
    const part = new Proxy(real ?? {}, {
      get: (target, key) => {
        // Whoever awaits a part asks for it.
        if (typeof key === "symbol") return Reflect.get(target, key)?.bind?.(target);
        if (key === "then") return undefined;
        const full = `${name}.${key}`;
        if (!methods.has(full)) methods.set(full, this.#member(full, target, key));
        return methods.get(full);
      },
    });
    this.#parts.set(name, part);
    return part;
  }

  /** Returns a method that is noted. */
  method(name: string, real?: (...given: unknown[]) => unknown): (...given: unknown[]) => unknown {
    return (...given) => {
      const work = (this.#answers.get(name) ?? real ?? (() => {})) as NonNullable<typeof real>;
      const note = [name, ...given.flatMap(nameOf)].join(" ");
      const failure = this.#failures.get(name);
      const isToFail = failure !== undefined && failure.timesLeft > 0;
      if (isToFail) this.note(`${note} fails`);
      else if (!this.#looks.some((look) => look.test(name))) this.note(note);
      this.#meanwhile.get(name)?.();
      if (!isToFail) return work(...given);
      failure.timesLeft -= 1;
      if (isAsyncFunction(work)) return Promise.reject(failure.error);
      throw failure.error;
    };
  }

  #member(name: string, target: object, key: string): unknown {
    const real: unknown = Reflect.get(target, key);
    if (typeof real === "function") return this.method(name, real.bind(target));
    if (typeof real === "object" && real !== null) return this.part(name, real);
    if (real !== undefined) return real;
    const answer = this.#answers.get(name);
    if (typeof answer === "function") return this.method(name);
    if (answer !== undefined) return answer;
    const isPart = [...this.#answers.keys()].some((each) => each.startsWith(`${name}.`));
    return isPart ? this.part(name) : this.method(name);
  }
}

function nameOf(given: unknown): (string | number)[] {
  if (typeof given === "number") return [given];
  const { instanceId, workDir } = (given ?? {}) as Record<string, unknown>;
  const name = typeof given === "string" ? given : (instanceId ?? workDir);
  return typeof name === "string" ? [path.basename(name)] : [];
}
