import { mkdtempSync, rmSync } from "node:fs";
import os from "node:os";
import path from "node:path";
import { catalogConformance } from "../../../../test/support/catalog-conformance.ts";
import { SqliteCatalog } from "./catalog.ts";

catalogConformance("a file of SQLite", () => {
  const directory = mkdtempSync(path.join(os.tmpdir(), "waypoint-catalog-"));
  return {
    open: (mirror) => SqliteCatalog.open(path.join(directory, "catalog.sqlite"), mirror),
    remove: () => rmSync(directory, { recursive: true }),
  };
});
