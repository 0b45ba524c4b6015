import type { ErrorCode } from "../../../shared/errors/index.ts";
import { DESCRIBED } from "../../../shared/protocol/index.ts";
import type { ArgumentSpec, CommandSpec, OptionSpec } from "../command-spec.ts";
import { type FieldLimits, parserOf } from "./field-parsers.ts";

type Operations = typeof DESCRIBED;
type Operation = keyof Operations;
type Field<N extends Operation> = keyof Operations[N]["fields"] & string;

/** What the contract says of a field. */
interface Described extends FieldLimits {
  words: string;
  choices?: readonly string[];
  default?: unknown;
  whenFalse?: string;
}

/** How a field is typed, where that does not follow from its name and type. */
interface Typed {
  /** Name of the option without dashes; that of the field if not given. */
  name?: string;
  /** One letter. */
  short?: string;
  /** What its value is called; a `?` at the end makes it optional. */
  value?: string;
  /** How it is written, behind the contract's words. */
  form?: string;
  /** What holds where it is not given, where the command line has it otherwise than the contract. */
  otherwise?: string;
  /** What it is where it is given without its value. */
  preset?: string;
  parse?: (text: string, previous: never) => unknown;
}

/** What a command has besides what the contract says of its operation. */
type Own = Omit<CommandSpec, "name" | "summary" | "errors" | "examples" | "description"> & {
  name?: string;
  summary?: string;
  /** Whole sentences about the command line alone, behind the contract's. */
  note?: string;
  /** Further operations that it asks for. */
  also?: readonly Operation[];
};

/** Returns a command that asks for an operation; the contract says what it does and how it fails. */
export function commandOf(operation: Operation, { note, also = [], ...own }: Own): CommandSpec {
  const operations = [operation, ...also];
  // The words are read when they are asked for: a start shows those of one command at most.
  return {
    name: operation,
    operations,
    get summary() {
      return DESCRIBED[operation].summary;
    },
    get description() {
      const sentences = [...operations.map(descriptionOf), note ?? ""];
      return sentences.filter((text) => text !== "").join(" ");
    },
    get examples() {
      return DESCRIBED[operation].examples;
    },
    get errors() {
      const errors = operations.flatMap((name): readonly ErrorCode[] => DESCRIBED[name].errors);
      return [...new Set(errors)];
    },
    ...own,
  };
}

/** Returns the option that gives a field of an operation's input; a flag where that is a boolean. */
export function option<N extends Operation>(
  operation: N,
  field: Field<N>,
  typed: Typed = {},
): OptionSpec {
  const told = describedField(operation, field);
  const name = typed.name ?? kebab(field.replace(/(?<=.)(Bytes|Ms)$/, ""));
  const short = typed.short === undefined ? "" : `-${typed.short}, `;
  const where = `${operation}.${field}`;
  if (told.type === "boolean") {
    const isOffered = told.default !== true;
    const flags = `${short}--${isOffered ? "" : "no-"}${name}`;
    return { flags, description: isOffered ? told.words : (told.whenFalse ?? ""), field: where };
  }
  const parse = typed.parse ?? (told.choices === undefined ? parserOf(field, told) : undefined);
  return {
    flags: `${short}--${name} ${placeholder(field, told, typed)}`,
    get description() {
      return textOf(field, told, typed);
    },
    field: where,
    ...(parse === undefined ? {} : { parse }),
    ...(typed.preset === undefined ? {} : { preset: typed.preset }),
    ...(told.choices === undefined || typed.parse !== undefined ? {} : { choices: told.choices }),
  };
}

/** Returns the flag that turns a field off, for a field of which the other flag is there as well. */
export function flagOff<N extends Operation>(
  operation: N,
  field: Field<N>,
  name: string = field,
): OptionSpec {
  const { whenFalse = "" } = describedField(operation, field);
  return { flags: `--no-${name}`, description: whenFalse, field: `${operation}.${field}` };
}

/** Returns the option that makes a command ask for another operation, with its one field as value. */
export function asking<N extends Operation>(
  operation: N,
  flags: string,
  field?: Field<N>,
): OptionSpec {
  const { summary } = DESCRIBED[operation];
  if (field === undefined) return { flags, description: summary, asks: operation };
  const [, absent = ""] = splitWords(describedField(operation, field));
  return { flags, description: `${summary} [${absent}]`, asks: operation };
}

/** Returns the positional argument that gives a field; `name` is as commander writes it. */
export function argument<N extends Operation>(
  operation: N,
  field: Field<N>,
  name: string,
  typed: Typed = {},
): ArgumentSpec {
  const told = describedField(operation, field);
  // A list is read as a whole by its command.
  const isList = name.includes("...");
  const parse = isList ? undefined : (typed.parse ?? parserOf(field, told));
  return {
    ...{ name, field: `${operation}.${field}` },
    get description() {
      return textOf(field, told, typed);
    },
    ...(parse === undefined ? {} : { parse: parse as (text: string) => unknown }),
    ...(parse !== undefined || isList || told.choices === undefined
      ? {}
      : { choices: told.choices }),
  };
}

function descriptionOf(operation: Operation): string {
  const told = DESCRIBED[operation];
  return "description" in told ? told.description : "";
}

function describedField<N extends Operation>(operation: N, field: Field<N>): Described {
  const fields = DESCRIBED[operation].fields as unknown as Record<string, Described>;
  const told = fields[field];
  if (told === undefined) throw new Error(`the contract has no ${operation}.${field}`);
  return told;
}

function placeholder(field: string, told: Described, { value }: Typed): string {
  const name = (value ?? unitOf(field, told)?.name ?? kebab(field)).replace(/\?$/, "");
  return value?.endsWith("?") === true ? `[${name}]` : `<${name}>`;
}

/** "Memory that it may use at most (such as 512M or 4G) [half of it]". */
function textOf(field: string, told: Described, { form, otherwise }: Typed): string {
  const [words, bracket] = splitWords(told);
  const unit = unitOf(field, told);
  const listed = told.type === "array" ? told.choices?.join(", ") : undefined;
  const written = form ?? unit?.form ?? listed;
  const absent = otherwise ?? bracket ?? defaultOf(told, unit?.divisor ?? 1);
  return [
    words,
    ...(written === undefined ? [] : [`(${written})`]),
    ...(absent === undefined ? [] : [`[${absent}]`]),
  ].join(" ");
}

/** Returns what a field is, and what holds where it is not given. */
function splitWords({ words }: Described): [string, string | undefined] {
  const [, text = "", bracket] = /^(.*?)(?: \[([^\]]*)\])?$/.exec(words) ?? [];
  return [text, bracket];
}

/** How a number is typed: fields say their unit, an option's value has one of its own. */
function unitOf(field: string, { type, maximum, whenNull }: Described) {
  if (field.endsWith("Bytes")) return { name: "size", form: "such as 512M or 4G", divisor: 1 };
  if (/(^t|T)imeoutMs$|Ms$/.test(field)) {
    return { name: "seconds", form: `at most ${(maximum ?? 0) / 1000}`, divisor: 1000 };
  }
  if (type !== "integer") return type === "number" ? { name: "number", divisor: 1 } : undefined;
  const bounds = whenNull === undefined ? `at most ${maximum}` : `or ${whenNull}`;
  const isBound = whenNull !== undefined || maximum !== undefined;
  return { name: "count", ...(isBound ? { form: bounds } : {}), divisor: 1 };
}

function defaultOf({ default: value }: Described, divisor: number): string | undefined {
  if (typeof value === "number") return String(value / divisor);
  return typeof value === "string" ? value : undefined;
}

function kebab(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}
