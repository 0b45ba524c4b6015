import { confirm, say } from "./display.ts";
import { expectThat } from "./expectation.ts";
import { installNpmPackages } from "./install.ts";
import type { Shell } from "./shell.ts";
import { RIGHT_TOTAL, readTotal, START_SERVER, showTotal, waitForServer } from "./shop.ts";

/** Exit code of curl when nobody listens. */
const CURL_REFUSED = 7;

/** Breaks the shop in five places, as a careless agent might in one afternoon. */
export async function breakShop(shell: Shell): Promise<void> {
  await shell.run("sqlite3 shop.db \"UPDATE products SET price_cents = 2900 WHERE sku = 'mug'\"");
  await shell.run("redis-cli flushall");
  await shell.run('sed -i \'s/"taxPercent": 6/"taxPercent": 19/\' config.json');
  const { total, pid } = await showTotal(shell);
  expectThat(total !== RIGHT_TOTAL, `The shop still says ${RIGHT_TOTAL} after it was broken.`);
  confirm(`two mugs cost ${total} now, which is wrong`);

  await shell.run("rm -rf node_modules");
  await shell.run(`kill -9 ${pid}; wait ${pid}; tmux -L shop kill-server`);
  await shell.run("curl -sS http://127.0.0.1:3000/health", { exitCode: CURL_REFUSED });
  confirm("the server is dead, and so is the Python prompt");
}

/** Puts back the one thing of which there is a copy, and shows how far that leads. */
export async function putDatabaseBack(shell: Shell): Promise<void> {
  await shell.run("cp shop.db.copy shop.db");
  const start = await shell.run("node server.mjs 2>&1 | grep Error", { exitCode: "any" });
  expectThat(start.stdout.includes("ERR_MODULE_NOT_FOUND"), "The server started without ioredis.");
  say("The server lacks its package. Installed again, started again:");
  await installNpmPackages(shell);
  await shell.run(START_SERVER);
  await waitForServer(shell);
  const { total } = await showTotal(shell);
  expectThat(total !== RIGHT_TOTAL, "The database file alone was enough to repair the shop.");
  confirm(
    `the price is right and the total is still wrong: ${total}; cache, tax and prompt are lost`,
  );
}

/** Takes the restore back, looks at the broken shop, and comes back again. */
export async function undoAndReturn(shell: Shell, checkpointId: string): Promise<void> {
  const undone = await shell.session.undo();
  const { total } = await readTotal(shell);
  expectThat(total !== RIGHT_TOTAL, "Undo did not bring the broken shop back.");
  confirm(`undone in ${Math.round(undone.readyMs)} ms: the broken shop is back and says ${total}`);

  await shell.session.restore(checkpointId);
  const again = await readTotal(shell);
  expectThat(again.total === RIGHT_TOTAL, `After the second restore the total is ${again.total}.`);
  confirm(`restored once more: ${again.total}`);
}
