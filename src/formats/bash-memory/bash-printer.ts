import { BashRedirects } from "./bash-redirects.ts";
import { BashWords, EXACT_LINE } from "./bash-words.ts";
import type { MemoryView } from "./memory-view.ts";

// command.h: struct command, enum command_type
const COMMAND = { type: 0, flags: 4, redirects: 16, value: 24 } as const;
const TYPES = [
  ...(["for", "case", "while", "if", "simple", "select", "connection", "function"] as const),
  ...([
    "until",
    "group",
    "arithmetic",
    "condition",
    "arithmeticFor",
    "subshell",
    "coproc",
  ] as const),
];
type CommandType = (typeof TYPES)[number];

const FLAG = { invert: 0x04, time: 0x80, timePosix: 0x100 } as const;
// What joins two commands: characters, or tokens of the grammar.
const CONNECTORS = new Map([
  [0x26, " &"],
  [0x3b, ";"],
  [0x0a, ";"],
  [0x7c, " |"],
  [288, " &&"],
  [289, " ||"],
]);
const CONDITION = { and: 1, or: 2, unary: 3, binary: 4, term: 5, group: 6 } as const;
const CASE_ENDS = [";;", ";&", ";;&"];

/** Deepest nesting, most commands and longest list that are followed in one function. */
const DEPTH_MAX = 200;
const COMMANDS_MAX = 50_000;
const CLAUSES_MAX = 10_000;
const INDENT = "    ";

/** Writes out functions from the trees of commands that bash keeps, much as `declare -f` does. */
export class BashPrinter {
  readonly #memory: MemoryView;
  readonly #words: BashWords;
  readonly #redirects: BashRedirects;
  #commandCount = 0;
  #depth = 0;

  constructor(memory: MemoryView) {
    this.#memory = memory;
    this.#words = new BashWords(memory);
    this.#redirects = new BashRedirects(memory, this.#words);
  }

  /** Returns the text of a function. @throws Error  its memory holds no commands. */
  printFunction(name: string, body: number): string {
    this.#commandCount = 0;
    this.#depth = 0;
    return `${name} () ${this.#block(body)}`.replaceAll(EXACT_LINE, "");
  }

  /** The body of a function is nearly always a group already. */
  #block(command: number): string {
    return this.#withDocuments(() => this.#command(command));
  }

  /** Text of here-documents stands after the line that asks for them. */
  #withDocuments(print: () => string): string {
    const outer = this.#redirects.documents;
    this.#redirects.documents = [];
    const text = print();
    const documents = this.#redirects.documents;
    this.#redirects.documents = outer;
    return documents.length === 0 ? text : `${text}\n${documents.join("")}`.replace(/\n$/, "");
  }

  #command(address: number): string {
    this.#commandCount += 1;
    this.#depth += 1;
    if (this.#commandCount > COMMANDS_MAX || this.#depth > DEPTH_MAX) {
      throw new Error("a function of the shell is too long");
    }
    const type = TYPES[this.#memory.integer(address + COMMAND.type)];
    if (type === undefined) throw new Error("the shell's memory holds no command");
    const flags = this.#memory.integer(address + COMMAND.flags);
    const text = this.#printType(type, this.#memory.pointer(address + COMMAND.value));
    const redirects = this.#redirects.print(this.#memory.pointer(address + COMMAND.redirects));
    this.#depth -= 1;
    const time = flags & FLAG.time ? (flags & FLAG.timePosix ? "time -p " : "time ") : "";
    return `${time}${flags & FLAG.invert ? "! " : ""}${text}${redirects}`;
  }

  #printType(type: CommandType, at: number): string {
    const pointer = (offset: number) => this.#memory.pointer(at + offset);
    switch (type) {
      case "simple":
        return `${this.#words.list(pointer(8))}${this.#redirects.print(pointer(16))}`.trimStart();
      case "connection":
        return this.#connection(at);
      case "group":
        return `{\n${this.#body(pointer(8))}\n}`;
      case "subshell":
        return `(\n${this.#body(pointer(8))}\n)`;
      case "for":
      case "select":
        return `${type} ${this.#words.one(pointer(8))} in ${this.#words.list(pointer(16))}${this.#loop(pointer(24))}`;
      case "while":
      case "until":
        return `${type} ${this.#test(pointer(8))}${this.#loop(pointer(16))}`;
      case "if":
        return this.#choice(at);
      case "case":
        return this.#case(at);
      case "arithmetic":
        return `((${this.#words.list(pointer(8))}))`;
      case "arithmeticFor": {
        const parts = [8, 16, 24].map((offset) => this.#words.list(pointer(offset)));
        return `for ((${parts.join("; ")}))${this.#loop(pointer(32))}`;
      }
      case "condition":
        return `[[ ${this.#condition(at)} ]]`;
      case "function":
        return `function ${this.#words.one(pointer(8))} () ${this.#command(pointer(16))}`;
      case "coproc":
        return this.#coproc(pointer(8), pointer(16));
    }
  }

  /** Before a simple command a name would be its first word. */
  #coproc(name: number, command: number): string {
    const isSimple = TYPES[this.#memory.integer(command + COMMAND.type)] === "simple";
    return `coproc ${isSimple ? "" : `${this.#memory.text(name)} `}${this.#command(command)}`;
  }

  #body(command: number): string {
    return this.#block(command).split("\n").map(indent).join("\n");
  }

  #loop(action: number): string {
    return `; do\n${this.#body(action)}\ndone`;
  }

  #test(command: number): string {
    return this.#block(command);
  }

  #choice(at: number): string {
    const [test, yes, no] = [8, 16, 24].map((offset) => this.#memory.pointer(at + offset)) as [
      number,
      number,
      number,
    ];
    const otherwise = no === 0 ? "" : `\nelse\n${this.#body(no)}`;
    return `if ${this.#test(test)}; then\n${this.#body(yes)}${otherwise}\nfi`;
  }

  #connection(at: number): string {
    const connector = CONNECTORS.get(this.#memory.integer(at + 24));
    if (connector === undefined) throw new Error("this bash joins commands in an unknown way");
    const [first, second] = [8, 16].map((offset) => this.#memory.pointer(at + offset));
    const isStatement = connector === ";" || connector === " &";
    // Whatever stands on a line of its own is followed by its here-documents.
    const left = isStatement
      ? this.#withDocuments(() => `${this.#command(first as number)}${connector}`)
      : `${this.#command(first as number)}${connector}`;
    if (second === undefined || second === 0) return left;
    return `${left}${isStatement ? "\n" : " "}${this.#command(second)}`;
  }

  #case(at: number): string {
    const lines = [`case ${this.#words.one(this.#memory.pointer(at + 8))} in`];
    let clause = this.#memory.pointer(at + 16);
    for (let count = 0; clause !== 0; clause = this.#memory.pointer(clause)) {
      count += 1;
      if (count > CLAUSES_MAX) throw new Error("a function of the shell is too long");
      const action = this.#memory.pointer(clause + 16);
      const end = CASE_ENDS[this.#memory.integer(clause + 24)] ?? ";;";
      lines.push(`${INDENT}${this.#words.list(this.#memory.pointer(clause + 8), " | ")})`);
      if (action !== 0) lines.push(this.#body(action).split("\n").map(indent).join("\n"));
      lines.push(`${INDENT}${end}`);
    }
    return [...lines, "esac"].join("\n");
  }

  #condition(at: number): string {
    this.#depth += 1;
    if (this.#depth > DEPTH_MAX) throw new Error("a condition of the shell is too long");
    const type = this.#memory.integer(at + 8);
    const [operator, left, right] = [16, 24, 32].map((offset) =>
      this.#memory.pointer(at + offset),
    ) as [number, number, number];
    const text = this.#conditionPart(type, { operator, left, right });
    this.#depth -= 1;
    return this.#memory.integer(at) & FLAG.invert ? `! ${text}` : text;
  }

  #conditionPart(type: number, part: { operator: number; left: number; right: number }): string {
    const { operator, left, right } = part;
    if (type === CONDITION.term) return this.#words.one(operator);
    if (type === CONDITION.group) return `( ${this.#condition(left)} )`;
    if (type === CONDITION.unary) return `${this.#words.one(operator)} ${this.#condition(left)}`;
    const joins: Record<number, string> = { [CONDITION.and]: "&&", [CONDITION.or]: "||" };
    const join = joins[type] ?? (type === CONDITION.binary ? this.#words.one(operator) : undefined);
    if (join === undefined) throw new Error("the shell's memory holds no condition");
    return `${this.#condition(left)} ${join} ${this.#condition(right)}`;
  }
}

function indent(line: string): string {
  return line.startsWith(EXACT_LINE) ? line : `${INDENT}${line}`;
}
