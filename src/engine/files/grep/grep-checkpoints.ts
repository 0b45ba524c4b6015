import { matchesGlob } from "node:path";
import { toBase64, toText } from "../../../base/index.ts";
import type { CheckpointRow } from "../../../portable/model/index.ts";
import { toWaypointError, WaypointError } from "../../../shared/errors/index.ts";
import type {
  GrepMatch,
  OperationOutput,
  OperationParsedInput,
} from "../../../shared/protocol/index.ts";
import type { Engine, StreamClient, TextSearch } from "../../ports/index.ts";
import { type FileVersion, pathFilter, withNewVersions } from "./file-versions.ts";
import { recordedOutputs } from "./recorded-outputs.ts";
import { type Searched, selectCheckpoints } from "./select-checkpoints.ts";
import { VersionLifetimes } from "./version-lifetimes.ts";

/** What one process searches at most, so that its matches come soon. */
const BATCH_FILES_MAX = 500;
const BATCH_BYTES_MAX = 256 * 1024 ** 2;
/** What could not be searched is named so often at most. */
const UNREAD_MAX = 100;

type Input = OperationParsedInput<"grep">;

/** One search. */
class Search {
  readonly result: OperationOutput<"grep"> = { matches: 0, checkpoints: 0, files: 0, unread: [] };
  readonly grep: TextSearch;
  readonly #input: Input;
  readonly #client: StreamClient;
  readonly #isWanted: (path: string) => boolean;

  constructor(input: Input, client: StreamClient, { textTools }: Engine) {
    this.#input = input;
    this.#client = client;
    this.grep = textTools.search(input, client.cancelled);
    this.#isWanted = pathFilter(input.path, matchesGlob);
  }

  /** Searches new versions of files, and says of each how long it stands. */
  async files(
    { id }: CheckpointRow,
    versions: readonly FileVersion[],
    untilOf: (version: FileVersion) => string | null,
  ): Promise<void> {
    const wanted = versions.filter(({ rawPath }) => this.#isWanted(toText(rawPath)));
    for (const batch of inBatches(wanted)) {
      this.result.files += batch.length;
      const byHostPath = new Map(batch.map((version) => [version.entry.hostPath, version]));
      const matchOf = (hostPath: string, line: number | null, text: string | null): GrepMatch => {
        const version = byHostPath.get(hostPath) as FileVersion;
        const { rawPath } = version;
        const pathBase64 = toBase64(rawPath);
        return {
          ...{ checkpoint: id, kind: "file", path: toText(rawPath), command: null, line, text },
          ...(pathBase64 === undefined ? {} : { pathBase64 }),
          until: untilOf(version),
        };
      };
      const { found, complaint } = await this.grep.filesWith(batch.map(({ entry }) => entry));
      this.#complain(id, complaint);
      const binary = new Set(found);
      const matching = batch
        .map(({ entry }) => entry)
        .filter(({ hostPath }) => found.has(hostPath));
      if (!this.#input.list && matching.length > 0) {
        await this.grep.linesOf(matching, async ({ file, line, text }) => {
          binary.delete(file);
          await this.#send(matchOf(file, line, text));
        });
      }
      for (const hostPath of binary) await this.#send(matchOf(hostPath, null, null));
    }
  }

  /** Searches what programs printed. */
  async outputs(searched: Searched, engine: Engine): Promise<void> {
    const outputs = await recordedOutputs(searched, engine);
    const origins = outputs.flatMap((output) => output.lines.map((line) => ({ ...line, output })));
    if (origins.length === 0) return;
    const lines = await this.grep.linesIn(`${origins.map(({ text }) => text).join("\n")}\n`);
    const listed = new Set<object>();
    for (const { line, text } of lines) {
      const origin = origins[line - 1];
      if (origin === undefined || (this.#input.list && listed.has(origin.output))) continue;
      listed.add(origin.output);
      const { kind, command } = origin.output;
      const where = this.#input.list ? { line: null, text: null } : { line: origin.number, text };
      const common = { checkpoint: searched.row.id, path: null, until: null };
      await this.#send({ ...common, kind, command, ...where });
    }
  }

  unread(what: string): void {
    if (this.result.unread.length < UNREAD_MAX) this.result.unread.push(what);
  }

  #complain(checkpointId: string, complaint: string): void {
    const [first = ""] = complaint.split("\n");
    if (first === "") return;
    const reason = /exhausted/.test(first) ? "a line is too long" : first.replace(/^.*: /, "");
    this.unread(`some files of ${checkpointId}: ${reason}`);
  }

  async #send(match: GrepMatch): Promise<void> {
    this.result.matches += 1;
    await this.#client.send("stdout", Buffer.from(`${JSON.stringify(match)}\n`, "utf8"));
  }
}

/**
 * Searches the files that checkpoints are the first to have, and the outputs that they tell, newest
 * first. Each match is sent as one line of JSON as soon as it is found.
 *
 * What cannot be read, a checkpoint that was removed meanwhile for instance, is named in the result.
 *
 * @throws USAGE_INVALID  the pattern is none | DEADLINE_EXCEEDED  it takes for ever | CANCELLED
 * | FORMAT_TOO_NEW  of a checkpoint that was named
 */
export async function grepCheckpoints(
  input: Input,
  client: StreamClient,
  engine: Engine,
): Promise<OperationOutput<"grep">> {
  if (input.pattern.includes("\0")) {
    throw new WaypointError("USAGE_INVALID", "A pattern cannot have the byte 0 in it.");
  }
  const search = new Search(input, client, engine);
  const selection = selectCheckpoints(input, engine);
  // Among all others one is told of at the end; who names it wants this one.
  if (input.checkpoints.length > 0)
    for (const { row } of selection.searched) engine.store.requireKnown(row.id);
  await search.grep.check();
  // Outputs are at no path.
  const isOutputWanted =
    input.in === "outputs" || (input.in === "both" && input.path === undefined);
  const lifetimes = new VersionLifetimes(selection);
  for (const [place, searched] of selection.searched.entries()) {
    client.cancelled.throwIfAborted();
    search.result.checkpoints += 1;
    if (input.in !== "outputs")
      await searchFiles(search, { searched, place, lifetimes }, client, engine);
    if (isOutputWanted) await search.outputs(searched, engine);
  }
  return search.result;
}

async function searchFiles(
  search: Search,
  {
    searched,
    place,
    lifetimes,
  }: { searched: Searched; place: number; lifetimes: VersionLifetimes },
  client: StreamClient,
  engine: Engine,
): Promise<void> {
  const { id } = searched.row;
  try {
    await withNewVersions(searched, { engine, signal: client.cancelled }, async (found) => {
      await search.files(searched.row, found.versions, ({ rawPath }) => lifetimes.until(rawPath));
      lifetimes.note(found, place);
      for (const [what, why] of Object.entries(found.unknown)) {
        search.unread(`${what} of ${id}: ${why}`);
      }
    });
  } catch (error) {
    client.cancelled.throwIfAborted();
    const failure = toWaypointError(error);
    if (failure.code === "DEADLINE_EXCEEDED") throw failure;
    search.unread(`files of ${id}: ${failure.message}`);
  }
}

function* inBatches(versions: readonly FileVersion[]): Generator<FileVersion[]> {
  let batch: FileVersion[] = [];
  let bytes = 0;
  for (const version of versions) {
    batch.push(version);
    bytes += version.entry.sizeBytes;
    if (batch.length < BATCH_FILES_MAX && bytes < BATCH_BYTES_MAX) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}
