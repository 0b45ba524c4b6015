import { existsSync } from "node:fs";
import { defineConfig, type UserConfig } from "tsdown";

/** What every bundle has in common. */
const COMMON: UserConfig = {
  format: "esm",
  platform: "node",
  target: "node22",
  outDir: "dist",
  // Three builds share the folder; each would delete the others' files.
  clean: false,
  hash: true,
  outExtensions: () => ({ js: ".mjs", dts: ".d.mts" }),
};

/**
 * For programs that use the contract's types alone: no module in them works by being imported, and
 * saying so lets the bundler leave out the contract and zod with it.
 */
const WITHOUT_CONTRACT: UserConfig = { treeshake: { moduleSideEffects: false } };

const SDK: UserConfig = {
  ...COMMON,
  ...WITHOUT_CONTRACT,
  name: "sdk",
  entry: { index: "src/index.ts" },
  dts: true,
};

// Commander is bundled, because finding and reading a package costs a tenth of the start.
const COMMAND_LINE: UserConfig = {
  ...COMMON,
  ...WITHOUT_CONTRACT,
  name: "cli",
  entry: { cli: "src/cli/main.ts" },
  dts: false,
  deps: { alwaysBundle: ["commander"] },
};

const DAEMON: UserConfig = {
  ...COMMON,
  name: "daemon",
  entry: { daemon: "src/daemon/main.ts" },
  dts: false,
  deps: { alwaysBundle: ["zod"], neverBundle: ["koffi", /^@xterm\//] },
};

export default defineConfig(
  [SDK, COMMAND_LINE, DAEMON].filter(({ entry }) =>
    Object.values(entry as Record<string, string>).every((file) => existsSync(file)),
  ),
);
