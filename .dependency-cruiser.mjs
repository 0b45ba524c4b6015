// Who may import whom, one rule a line of the list in docs/ARCHITECTURE.md, which these keep true.

const TEST_FILE = "[.]test[.]ts$";
/** A folder with a door: what it owns is said there, and everything behind it may change. */
const ROOM = "^src/((?:shared|formats|portable|linux|engine|surfaces)/[^/]+|base|operations)/";
/** What keeps a catalog, or objects, has a door of its own. */
const DOORS = [
  "^src/[^/]+/index[.]ts$",
  "^src/[^/]+/[^/]+/index[.]ts$",
  "^src/portable/(catalog|objects|records|approvals|contacts|decisions|effects)/[^/]+/index[.]ts$",
];
const COMPOSITION_ROOT = "^src/engine/[^/]+[.]ts$";

/** Forbids everything of src but what is named. */
function only(name, from, allowed, comment) {
  return {
    name,
    comment,
    severity: "error",
    from: { path: from, pathNot: TEST_FILE },
    to: { path: "^src/", pathNot: allowed },
  };
}

export default {
  forbidden: [
    only(
      "shared-imports-shared",
      "^src/shared/",
      "^src/shared/",
      "It is the words of all others, and loads in a browser.",
    ),
    only(
      "base-imports-shared",
      "^src/base/",
      "^src/(shared|base)/",
      "It is Node without native code, for the smallest client, too.",
    ),
    only(
      "formats-import-words",
      "^src/formats/",
      "^src/(shared|base|formats)/",
      "A format is the same wherever its bytes come from.",
    ),
    only(
      "portable-knows-no-machine",
      "^src/portable/",
      "^src/(shared|base|formats|portable)/",
      "What a branching history is, holds on any machine.",
    ),
    only(
      "linux-knows-no-history",
      "^src/linux/",
      "^src/(shared|base|formats|linux)/",
      "An adapter that knew the engine could not be replaced or tested without it.",
    ),
    only(
      "engine-imports-nothing-above",
      "^src/engine/[^/]+/",
      ["^src/(shared|base|formats|portable|linux)/", "^src/engine/[^/]+/"],
      "The engine is headless: it knows no operation, no daemon and no command line.",
    ),
    only(
      "composition-root-knows-no-surface",
      COMPOSITION_ROOT,
      "^src/(shared|base|formats|portable|linux|engine)/",
      "The engine can be built without a daemon around it, for instance in a test.",
    ),
    only(
      "operations-know-the-engine",
      "^src/operations/",
      "^src/(shared|base|formats|portable|linux|engine|operations)/",
      "An operation says what is done; how it is reached is not its matter.",
    ),
    only(
      "client-knows-the-protocol",
      "^src/(surfaces/client/|index[.]ts$)",
      "^src/(shared|base|surfaces/client|portable/(agent-state|effects))/",
      "A client starts for each step of an agent: it stays small and decides nothing. What an agent " +
        "has needs no machine: it is loaded when it is used.",
    ),
    only(
      "langgraph-knows-no-machine",
      "^src/(surfaces/langgraph/|langgraph[.]ts$)",
      "^src/(shared|base|portable|surfaces/langgraph)/",
      "Graphs are kept without root, a daemon, Linux or a native library.",
    ),
    only(
      "cli-knows-the-client",
      "^src/surfaces/cli/",
      "^src/(shared|base|linux/host|surfaces/(client|cli))/",
      "The command line parses, calls and renders; of the machine it knows only doctor.",
    ),
    only(
      "daemon-knows-operations",
      "^src/surfaces/daemon/",
      "^src/(shared|base|formats|portable|linux|engine|operations|surfaces/daemon)/",
      "Server and client share the protocol and nothing else.",
    ),
    {
      name: "adapters-are-strangers",
      comment: "An adapter hides one outside thing; joining two of them is the engine's work.",
      severity: "error",
      from: { path: "^src/linux/([^/]+)/" },
      to: { path: "^src/linux/", pathNot: "^src/linux/(kernel|$1)/" },
    },
    {
      name: "adapters-are-injected",
      comment: "The engine must run in tests without root; src/engine/open-engine.ts builds them.",
      severity: "error",
      from: { path: "^src/(engine/[^/]+|operations)/", pathNot: TEST_FILE },
      to: {
        path: [
          "^src/linux/",
          "^src/portable/catalog/",
          "^src/portable/objects/[^/]+/",
          "^src/portable/approvals/[^/]+/",
        ],
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "daemon-reaches-adapters-through-the-engine",
      comment: "A surface translates and never decides; it may ask what the machine can do (host).",
      severity: "error",
      from: { path: "^src/surfaces/daemon/", pathNot: TEST_FILE },
      to: {
        path: [
          "^src/linux/",
          "^src/portable/catalog/",
          "^src/portable/objects/[^/]+/",
          "^src/portable/approvals/[^/]+/",
        ],
        pathNot: "^src/linux/(host|kernel)/",
        dependencyTypesNot: ["type-only"],
      },
    },
    {
      name: "composition-root-is-for-the-daemon",
      comment: "Adapters are built once, by the daemon; everyone else may name the engine's type.",
      severity: "error",
      from: { pathNot: ["^src/surfaces/daemon/", TEST_FILE] },
      to: { path: COMPOSITION_ROOT, dependencyTypesNot: ["type-only"] },
    },
    {
      name: "sql-is-sqlites",
      comment: "nothing but portable/sqlite knows SQLite",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/portable/sqlite/", TEST_FILE] },
      to: { path: "^(node:)?sqlite$" },
    },
    {
      name: "catalogs-are-injected",
      comment: "only the composition root chooses what keeps the catalog",
      severity: "error",
      from: {
        path: "^src/",
        pathNot: ["^src/portable/catalog/[^/]+/", COMPOSITION_ROOT, TEST_FILE],
      },
      to: { path: "^src/portable/catalog/[^/]+/" },
    },
    {
      name: "errors-import-nothing",
      comment: "Every other folder throws errors, so errors can depend on none of them.",
      severity: "error",
      from: { path: "^src/shared/errors/", pathNot: TEST_FILE },
      to: { pathNot: "^src/shared/errors/" },
    },
    {
      name: "shared-without-node",
      comment: "It must load in a browser, where no Node built-in exists.",
      severity: "error",
      from: { path: "^src/shared/", pathNot: TEST_FILE },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "every-file-has-a-room",
      comment: "A file outside of the rooms would escape every rule here.",
      severity: "error",
      from: { path: "^src/", pathNot: [ROOM, COMPOSITION_ROOT, "^src/(index|langgraph)[.]ts$"] },
      to: {},
    },
    {
      name: "no-cycles",
      comment: "Two files that need each other can be neither understood nor tested alone.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "other-rooms-through-their-door",
      comment: "index.ts is what a room promises; anything behind it may change at any time.",
      severity: "error",
      from: { path: ROOM },
      to: { path: ROOM, pathNot: ["^src/$1/", ...DOORS] },
    },
    {
      name: "outsiders-through-the-door",
      comment: "Files outside the rooms, tests and benchmarks use the same promises.",
      severity: "error",
      from: {
        path: ["^src/(engine/)?[^/]+[.]ts$", "^(test|bench|examples)/"],
        pathNot: "^test/tidy/",
      },
      to: { path: ROOM, pathNot: DOORS },
    },
    {
      name: "insiders-not-through-their-own-door",
      comment: "A file that imports its own door makes a cycle and hides what it needs.",
      severity: "error",
      from: { path: ROOM, pathNot: TEST_FILE },
      to: { path: "^src/$1/index[.]ts$" },
    },
    {
      name: "product-without-test-code",
      comment: "Tests, benchmarks and development tools are not installed with the package.",
      severity: "error",
      from: { path: "^src/", pathNot: TEST_FILE },
      // scripts/setup is installed too: host shares its checks, which run before there is a build.
      to: { path: ["^(test|bench|scripts|examples)/", TEST_FILE], pathNot: "^scripts/setup/" },
    },
    {
      name: "setup-through-host",
      comment: "Finding and bringing what the machine lacks is one thing, and host owns it.",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/linux/host/", TEST_FILE] },
      to: { path: "^scripts/setup/" },
    },
    {
      name: "product-without-development-packages",
      comment: "A package that only developers install is missing on the user's machine.",
      severity: "error",
      from: { path: "^src/", pathNot: TEST_FILE },
      to: {
        dependencyTypes: ["npm-dev"],
        // What a user of that part has by himself is a peer.
        dependencyTypesNot: ["type-only", "npm-peer"],
        pathNot: "^node_modules/@types/",
      },
    },
    {
      name: "everything-resolves",
      comment: "An import of something that is not there fails only at run time.",
      severity: "error",
      // Examples run inside a session, with packages of their own.
      from: { pathNot: "^examples/" },
      to: { couldNotResolve: true },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    exclude: { path: "^(dist|[.]tools)/" },
    tsPreCompilationDeps: true,
    tsConfig: { fileName: "tsconfig.json" },
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
    },
  },
};
