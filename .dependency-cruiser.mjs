// Who may import whom. docs/ARCHITECTURE.md draws the picture; these rules keep it true.

const LIGHT_WORDS = "^src/(errors|protocol|base)/";
const WORDS = "^src/(errors|protocol|base|kernel)/";
const ADAPTER_NAMES = "host|store|sandbox|network|limits|criu|shells|terminal|catalog";
const ADAPTERS = `^src/(${ADAPTER_NAMES})/`;
const ENGINE_NAMES =
  "session|checkpoint|lineage|standby|automatic|story|verification|bisect|files|merge|undoing|recovery";
const ENGINE = `^src/(${ENGINE_NAMES})/`;
const COMPOSITION_ROOT = "^src/(engine|story-program)[.]ts$";
const OPERATIONS = "^src/operations/";
const CLIENT_SIDE = "^src/(client/|cli/|index[.]ts$)";
const SURFACES = "^src/(daemon/|client/|cli/|index[.]ts$)";
const KNOWN_FOLDERS = [WORDS, ADAPTERS, ENGINE, OPERATIONS, SURFACES];
const TEST_FILE = "[.]test[.]ts$";

export default {
  forbidden: [
    {
      name: "no-cycles",
      comment: "Two files that need each other can be neither understood nor tested alone.",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    {
      name: "every-folder-has-a-layer",
      comment: "A folder that this file does not name would escape every rule below.",
      severity: "error",
      from: { path: "^src/[^/]+/", pathNot: KNOWN_FOLDERS },
      to: {},
    },
    {
      name: "words-import-nothing-above",
      comment: "Words are shared by everything; what they import, everything would import.",
      severity: "error",
      from: { path: WORDS },
      to: { path: "^src/", pathNot: WORDS },
    },
    {
      name: "errors-import-nothing",
      comment: "Every other folder throws errors, so errors can depend on none of them.",
      severity: "error",
      from: { path: "^src/errors/", pathNot: TEST_FILE },
      to: { pathNot: "^src/errors/" },
    },
    {
      name: "protocol-imports-errors-only",
      comment: "base needs Linux and Node; the protocol must also load in a browser.",
      severity: "error",
      from: { path: "^src/protocol/", pathNot: TEST_FILE },
      to: { path: "^src/", pathNot: "^src/(errors|protocol)/" },
    },
    {
      name: "kernel-only-where-it-is-needed",
      comment: "kernel loads a native library, which the command line has no time for.",
      severity: "error",
      from: { path: LIGHT_WORDS },
      to: { path: "^src/kernel/" },
    },
    {
      name: "errors-and-protocol-without-node",
      comment: "Both must load in a browser, where no Node built-in exists.",
      severity: "error",
      from: { path: "^src/(errors|protocol)/", pathNot: TEST_FILE },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "adapters-are-strangers",
      comment: "An adapter hides one outside thing; joining two of them is the engine's work.",
      severity: "error",
      from: { path: `^src/(${ADAPTER_NAMES})/` },
      to: { path: ADAPTERS, pathNot: "^src/$1/" },
    },
    {
      name: "adapters-import-words-only",
      comment: "An adapter that knew the engine could not be replaced or tested without it.",
      severity: "error",
      from: { path: ADAPTERS },
      to: { path: "^src/", pathNot: [WORDS, ADAPTERS] },
    },
    {
      name: "engine-gets-adapters-injected",
      comment: "The engine must run in tests without root; instances come from src/engine.ts.",
      severity: "error",
      from: { path: ENGINE, pathNot: TEST_FILE },
      to: { path: ADAPTERS, dependencyTypesNot: ["type-only"] },
    },
    {
      name: "engine-imports-nothing-above",
      comment: "The engine is headless: it knows no operation, no daemon and no command line.",
      severity: "error",
      from: { path: ENGINE },
      to: { path: [COMPOSITION_ROOT, OPERATIONS, SURFACES] },
    },
    {
      name: "operations-know-the-engine-only",
      comment:
        "An operation says what is done; how the outside world is reached is not its matter.",
      severity: "error",
      from: { path: OPERATIONS, pathNot: TEST_FILE },
      to: { path: [ADAPTERS, SURFACES], dependencyTypesNot: ["type-only"] },
    },
    {
      name: "composition-root-is-for-the-daemon",
      comment: "Adapters are built once, by the daemon; everyone else may name the engine's type.",
      severity: "error",
      from: { path: "^src/", pathNot: ["^src/daemon/", TEST_FILE] },
      to: { path: COMPOSITION_ROOT, dependencyTypesNot: ["type-only"] },
    },
    {
      name: "composition-root-knows-no-surface",
      comment: "The engine can be built without a daemon around it, for instance in a test.",
      severity: "error",
      from: { path: COMPOSITION_ROOT },
      to: { path: SURFACES },
    },
    {
      name: "daemon-reaches-adapters-through-the-engine",
      comment: "A surface translates and never decides; it may ask what the machine can do (host).",
      severity: "error",
      from: { path: "^src/daemon/", pathNot: TEST_FILE },
      to: { path: ADAPTERS, pathNot: "^src/host/", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "daemon-imports-no-client",
      comment: "Server and client share the protocol and nothing else.",
      severity: "error",
      from: { path: "^src/daemon/", pathNot: TEST_FILE },
      to: { path: CLIENT_SIDE },
    },
    {
      name: "client-knows-the-protocol-only",
      comment: "A client starts for each step of an agent: it stays small and decides nothing.",
      severity: "error",
      from: { path: "^src/(client/|index[.]ts$)", pathNot: TEST_FILE },
      to: { path: "^src/", pathNot: [LIGHT_WORDS, "^src/client/"] },
    },
    {
      name: "cli-knows-the-client-only",
      comment: "The command line parses, calls and renders; of the machine it knows only doctor.",
      severity: "error",
      from: { path: "^src/cli/", pathNot: TEST_FILE },
      to: { path: "^src/", pathNot: [LIGHT_WORDS, "^src/(client|cli|host)/"] },
    },
    {
      name: "other-folders-through-their-door",
      comment: "index.ts is what a folder promises; anything behind it may change at any time.",
      severity: "error",
      from: { path: "^src/([^/]+)/" },
      to: { path: "^src/[^/]+/", pathNot: ["^src/$1/", "^src/[^/]+/index[.]ts$"] },
    },
    {
      name: "outsiders-through-the-door",
      comment: "Files outside the folders, tests and benchmarks use the same promises.",
      severity: "error",
      from: { path: "^(src/[^/]+[.]ts$|test/|bench/|examples/)", pathNot: "^test/tidy/" },
      to: { path: "^src/[^/]+/", pathNot: "^src/[^/]+/index[.]ts$" },
    },
    {
      name: "insiders-not-through-their-own-door",
      comment: "A file that imports its own door makes a cycle and hides what it needs.",
      severity: "error",
      from: { path: "^src/([^/]+)/", pathNot: TEST_FILE },
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
      from: { path: "^src/", pathNot: ["^src/host/", TEST_FILE] },
      to: { path: "^scripts/setup/" },
    },
    {
      name: "product-without-development-packages",
      comment: "A package that only developers install is missing on the user's machine.",
      severity: "error",
      from: { path: "^src/", pathNot: TEST_FILE },
      to: {
        dependencyTypes: ["npm-dev"],
        dependencyTypesNot: ["type-only"],
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
