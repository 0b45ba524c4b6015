import { isAtOrBelow, normalText, type RawPath, toText } from "../../../base/index.ts";
import {
  type FoundPackage,
  findCargoFile,
  findDpkgFile,
  findGemFile,
  findGoFile,
  findNpmFile,
  findPipFile,
  linkedPackageJson,
  PACKAGE_BYTES_MAX,
  type PackageFile,
  type PackageFileFinder,
} from "../../../formats/packages/index.ts";
import type { Changes, PackageChange } from "../../../shared/protocol/index.ts";
import type { BothFiles, ReadContext, TreeEntry } from "../../moment/index.ts";
import { Pace, readEntry } from "../../moment/index.ts";
import { AnswerBudget } from "../answer-budget.ts";
import { shareFileChanges } from "../files/share-file-changes.ts";
import type { ChangesReader } from "../section.ts";
import { markDependencies } from "./mark-dependencies.ts";
import { listFacts, type PathFact } from "./package-facts.ts";
import { PackageSlots, type SlotChange } from "./package-slots.ts";
import { summarizePackages } from "./summarize-packages.ts";

const FINDERS: readonly PackageFileFinder[] = [
  ...[findDpkgFile, findNpmFile, findPipFile, findCargoFile, findGemFile, findGoFile],
];
/** So many small files are read at once; of others one. */
const PARALLEL_READS = 32;
/** Of all files together. */
const READ_BYTES_MAX = 512 * 1024 * 1024;
/** More files that cannot be read are counted. */
const UNREADABLE_MAX = 100;
/** A longer list is cut. */
const LIST_BYTES_MAX = 2 * 1024 * 1024;

/** A file that tells of packages, and both its sides. */
interface ChangedFile extends PathFact {
  file: PackageFile;
}

interface ReadRoom {
  bytesLeft: number;
}

/** The packages that differ, read from the package files among those that changed. */
export const PACKAGES_READER: ChangesReader = {
  sections: ["packages"],
  read: async (pair, context) => {
    using shared = shareFileChanges(pair, context);
    const { changes } = await shared.changes;
    const unknown: Record<string, string> = {};
    const pace = new Pace(context.signal);
    const facts = await listFacts(changes, shared.files, unknown, pace);
    const changed = await findPackageFiles(facts, context, pace);
    const slots = await readSlots(changed, shared.files, unknown, pace);
    const marked = await markDependencies(slots.changes(), shared.files);
    const packages = marked.map(describe).sort(byPlace);
    return report(packages, unknown);
  },
  summarize: summarizePackages,
};

async function findPackageFiles(
  facts: Iterable<PathFact>,
  { scope }: ReadContext,
  pace: Pace,
): Promise<ChangedFile[]> {
  const under = scope.under === null ? null : normalText(scope.under);
  const found: ChangedFile[] = [];
  for (const fact of facts) {
    await pace.yieldOften();
    if (under !== null && !isAtOrBelow(fact.path, under)) continue;
    const isLink = [fact.before, fact.after].some((entry) => entry?.type === "symlink");
    const path = isLink ? linkedPackageJson(fact.path) : fact.path;
    const file = path === null ? null : firstOf(path);
    if (file !== null) found.push({ ...fact, file });
  }
  return found;
}

function firstOf(rawPath: RawPath): PackageFile | null {
  for (const find of FINDERS) {
    const file = find(rawPath);
    if (file !== null) return file;
  }
  return null;
}

/** A lock file counts only where no directory of packages says what there really is. */
async function readSlots(
  changed: readonly ChangedFile[],
  files: BothFiles,
  unknown: Record<string, string>,
  pace: Pace,
): Promise<PackageSlots> {
  const isInstalled = ({ file }: ChangedFile) => {
    const modules = `${file.environment === "/" ? "" : file.environment}/node_modules`;
    return files.from.find(modules) !== null || files.to.find(modules) !== null;
  };
  const told = changed.filter((each) => each.file.isDeclaration !== true || !isInstalled(each));
  const slots = new PackageSlots();
  const room: ReadRoom = { bytesLeft: READ_BYTES_MAX };
  let unreadable = 0;
  for (const batch of batches(told)) {
    await pace.yieldOften();
    await Promise.all(
      batch.map(async (each) => {
        try {
          const before = await list(each, each.before, files.from, room);
          const after = await list(each, each.after, files.to, room);
          slots.add(each.file, before, after);
        } catch (error) {
          unreadable += 1;
          if (unreadable > UNREADABLE_MAX) return;
          const reason = error instanceof Error ? error.message : String(error);
          unknown[`packages in ${toText(each.path)}`] = `it cannot be read: ${reason}`;
        }
      }),
    );
  }
  const others = unreadable - UNREADABLE_MAX;
  if (others > 0) unknown["packages in other files"] = `${others} more cannot be read`;
  return slots;
}

/** Files that are read at once: many small ones, or one that may be large. */
function* batches(changed: readonly ChangedFile[]): Iterable<ChangedFile[]> {
  let small: ChangedFile[] = [];
  for (const each of changed) {
    if (bytesMaxOf(each.file) > PACKAGE_BYTES_MAX) yield [each];
    else small.push(each);
    if (small.length < PARALLEL_READS) continue;
    yield small;
    small = [];
  }
  if (small.length > 0) yield small;
}

function bytesMaxOf({ bytesMax = PACKAGE_BYTES_MAX }: PackageFile): number {
  return bytesMax;
}

async function list(
  { path, file }: ChangedFile,
  entry: TreeEntry | null,
  files: BothFiles["from"],
  room: ReadRoom,
): Promise<FoundPackage[]> {
  if (entry === null) return [];
  const bytesMax = bytesMaxOf(file);
  if (bytesMax === 0) return entry.type === "file" ? file.list(Buffer.alloc(0)) : [];
  if (room.bytesLeft < 0) throw new Error("too much was read of others");
  const content =
    entry.type === "symlink"
      ? await files.read(`${path}/package.json`, bytesMax)
      : await readEntry(entry, path, bytesMax);
  room.bytesLeft -= content?.length ?? 0;
  return content === null ? [] : file.list(content);
}

function describe(change: SlotChange): PackageChange {
  const { manager, name, before, after, environment, isDependency } = change;
  return {
    ...{ manager, name, change: change.change, before, after },
    path: environment === null ? null : toText(environment),
    ...(isDependency ? { dependency: true } : {}),
  };
}

/** Where nothing at all could be read, nobody can say that nothing has changed. */
function report(packages: PackageChange[], unknown: Record<string, string>): Partial<Changes> {
  const [problem] = Object.entries(unknown);
  if (packages.length === 0 && problem !== undefined) {
    const [where, reason] = problem;
    return { unknown: { packages: `${where.replace(/^packages in /, "")}: ${reason}` } };
  }
  const room = new AnswerBudget(LIST_BYTES_MAX);
  return { packages: room.keep(packages, "packages"), unknown: { ...unknown, ...room.leftOut } };
}

function byPlace(one: PackageChange, other: PackageChange): number {
  const [first, second] = [one, other].map((each) =>
    [each.manager, each.path ?? "", each.name, each.before ?? "", each.after ?? ""].join("\0"),
  ) as [string, string];
  return first < second ? -1 : first > second ? 1 : 0;
}
