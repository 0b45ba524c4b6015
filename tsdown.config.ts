import { existsSync } from "node:fs";
import { defineConfig, type Rolldown, type UserConfig } from "tsdown";

/** What every bundle has in common. */
const COMMON: UserConfig = {
  format: "esm",
  platform: "node",
  target: "node22",
  outDir: "dist",
  // The builds share the folder; each would delete the others' files.
  clean: false,
  outExtensions: () => ({ js: ".mjs", dts: ".d.mts" }),
};

/** What nearly every command needs; starting programs, terminals and the timeline are rare. */
const OFTEN_USED =
  /node_modules\/commander|src\/(shared|base\/(?!start-|run-)|surfaces\/client\/(?!start-daemon)|surfaces\/cli\/(?!main|kept-code|rewind|completion|timeline|terminal\/(?!has)|commands|confirm))/;

/**
 * For programs that use the contract's types alone: no module in them works by being imported, and
 * saying so lets the bundler leave out the contract and zod with it.
 */
const WITHOUT_CONTRACT: UserConfig = { treeshake: { moduleSideEffects: false } };

const SDK: UserConfig = {
  ...COMMON,
  ...WITHOUT_CONTRACT,
  name: "sdk",
  // Programs embed it in the Node that they have (tsconfig.sdk.json checks what is called).
  target: "node20",
  entry: { index: "src/index.ts" },
  dts: true,
  outputOptions: { chunkFileNames: "sdk/[name].mjs" },
};

const LANGGRAPH: UserConfig = {
  ...COMMON,
  ...WITHOUT_CONTRACT,
  name: "langgraph",
  entry: { langgraph: "src/langgraph.ts" },
  dts: true,
  outputOptions: { chunkFileNames: "langgraph/[name].mjs" },
  // What keeps the checkpoints is loaded where it is used, and is the user's own.
  deps: { neverBundle: [/^@langchain\//] },
};

/** Commander can run subcommands that are programs; loading what that takes costs each start 1 ms. */
const WITHOUT_PROGRAMS: Rolldown.Plugin = {
  name: "without-programs",
  resolveId: (id, importer = "") =>
    /^node:(child_process|fs)$/.test(id) && importer.includes("/commander/") ? "\0none" : null,
  load: (id) => (id === "\0none" ? "export default {};" : null),
};

/** One character beyond ASCII makes two bytes of each: the cache compares them at every start, 1 ms longer. */
const IN_ASCII: Rolldown.Plugin = {
  name: "in-ascii",
  generateBundle: (_options, bundle) => {
    for (const file of Object.values(bundle)) {
      if (file.type === "chunk") file.code = file.code.replace(/[\u0080-\uffff]/g, escapeUnit);
    }
  },
};

function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
}

// Commander is bundled, because finding and reading a package costs a tenth of the start. What most
// commands share lies in one chunk, because each file read costs a start more than its bytes do.
// CommonJS, because importing a module of Node's as an ES module evaluates all that it exports, and
// with that loads modules which a command never needs: 6 ms of 20.
const COMMAND_LINE: UserConfig = {
  ...COMMON,
  ...WITHOUT_CONTRACT,
  name: "cli",
  entry: { cli: "src/surfaces/cli/main.ts" },
  format: "cjs",
  outExtensions: () => ({ js: ".cjs" }),
  dts: false,
  deps: { alwaysBundle: ["commander", "@bomb.sh/tab", "smol-toml"] },
  plugins: [WITHOUT_PROGRAMS, IN_ASCII],
  outputOptions: {
    chunkFileNames: "cli/[name].cjs",
    codeSplitting: {
      groups: [{ name: "shared", test: OFTEN_USED }],
    },
  },
};

// The libraries of the full-screen picker. One file, because reading their 400 takes twice as long; an
// ES module, because one of them waits at its top level.
const SCREEN: UserConfig = {
  ...COMMON,
  name: "screen",
  entry: { screen: "src/surfaces/cli/rewind/screen-library.ts" },
  dts: false,
  define: { "process.env.NODE_ENV": '"production"' },
  outputOptions: { chunkFileNames: "screen/[name].mjs" },
  deps: { alwaysBundle: [/.*/], neverBundle: ["react-devtools-core"], onlyBundle: false },
};

const DAEMON: UserConfig = {
  ...COMMON,
  name: "daemon",
  entry: { daemon: "src/surfaces/daemon/main.ts" },
  dts: false,
  outputOptions: { chunkFileNames: "daemon/[name].mjs" },
  deps: { alwaysBundle: ["zod"], neverBundle: ["koffi", /^@xterm\//] },
};

const STORY: UserConfig = {
  ...COMMON,
  name: "story",
  entry: { story: "src/engine/story-program.ts" },
  dts: false,
  outputOptions: { chunkFileNames: "story/[name].mjs" },
  deps: { alwaysBundle: ["zod"], neverBundle: ["koffi", /^@xterm\//] },
};

export default defineConfig(
  [SDK, LANGGRAPH, COMMAND_LINE, SCREEN, DAEMON, STORY].filter(({ entry }) =>
    Object.values(entry as Record<string, string>).every((file) => existsSync(file)),
  ),
);
