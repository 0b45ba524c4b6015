import { afterEach, expect, test, vi } from "vitest";
import { hideSecret, hideSecrets, shownCommand, shownIntent, shownScreen } from "./secrets.ts";

afterEach(() => {
  vi.unstubAllEnvs();
});

test.each([
  [String.raw`echo "{\"api_key\": \"zebra2\"}"`, String.raw`echo "{\"api_key\": \"•••\"}"`],
  ["export API_TOKEN=abc123; make", "export API_TOKEN=•••; make"],
  ["DB_PASSWORD='two words' npm start", "DB_PASSWORD=••• npm start"],
  ["mysql --password=hunter2 shop", "mysql --password=••• shop"],
  ["tool --api-key hunter2 --verbose", "tool --api-key ••• --verbose"],
  ["psql postgres://me:hunter2@db/shop", "psql postgres://me:•••@db/shop"],
  ["curl -H 'Authorization: Bearer abc.def' host", "curl -H 'Authorization: Bearer •••' host"],
  ["curl -H 'X-Api-Key: abc' host", "curl -H 'X-Api-Key: •••' host"],
  [`echo '{"token": "abc", "n": 1}' > f`, `echo '{"token": •••, "n": 1}' > f`],
  [
    `git push https://ghp_${"a1".repeat(18)}@github.com/me/it`,
    "git push https://•••@github.com/me/it",
  ],
  ["curl -sS -u me:hunter2 http://host/", "curl -sS -u me:••• http://host/"],
  ["curl --user 'me:two words' host", "curl --user 'me:•••' host"],
  ["mysql -u root -phunter2 shop", "mysql -u root -p••• shop"],
  ["mysqldump -phunter2 shop > f", "mysqldump -p••• shop > f"],
  ["sshpass -p hunter2 ssh host", "sshpass -p ••• ssh host"],
  ["redis-cli -a 'hunter2' ping", "redis-cli -a ••• ping"],
  ["curl -H 'Cookie: sid=abc; theme=dark' host", "curl -H 'Cookie: •••' host"],
  ["MY_PASS=hunter2 make", "MY_PASS=••• make"],
  ["tool --db-pass hunter2", "tool --db-pass •••"],
  [`login sk-${"x".repeat(40)}`, "login •••"],
])("in a command line is hidden: %s", (command, shown) => {
  expect(hideSecrets(command)).toBe(shown);
});

test.each([
  "ssh -i ~/.ssh/deploy_key host",
  "openssl req --key server.key",
  "echo token > notes",
  "npm run test:secrets",
  "git log --since=yesterday",
  "curl http://127.0.0.1:8080/health",
  "curl -u me http://127.0.0.1:8080/a:b",
  "mysql -u root -p shop",
  "mysql -h db -P 3306 shop",
  "compass=north bypass=yes make",
  "ssh -p 2222 host; mkdir -p a",
])("what is none stays: %s", (command) => {
  expect(hideSecrets(command)).toBe(command);
});

test("a variable is hidden by its name, else what is secret in its value", () => {
  expect(hideSecret("API_KEY", "abc")).toBe("•••");
  expect(hideSecret("DATABASE_URL", "postgres://me:pw@host")).toBe("postgres://me:•••@host");
  expect(hideSecret("EDITOR", "vim")).toBe("vim");
  expect(hideSecret("API_KEY", "")).toBe("");
});

test("a pattern of one's own hides names and texts", () => {
  vi.stubEnv("WAYPOINT_SECRETS", "^CORP_|hunter\\d");

  expect(hideSecret("CORP_PIN", "1234")).toBe("•••");
  expect(shownCommand("login hunter2 now")).toBe("login ••• now");
});

test("a pattern that is none is the caller's mistake", () => {
  vi.stubEnv("WAYPOINT_SECRETS", "(");

  expect(() => hideSecrets("make")).toThrow(expect.objectContaining({ code: "USAGE_INVALID" }));
});

test("a secret is hidden before a text is cut", () => {
  const text = `: ${"x".repeat(175)} postgres://me:hunterlongpassword@host/db`;

  expect(shownIntent(text)).toContain("x postgres://me:•••@");
  expect(shownIntent(text)).toMatch(/…$/);
  expect(shownIntent(text).length).toBeLessThanOrEqual(200);
  expect(shownIntent("make")).toBe("make");
});

test("a secret is hidden where the terminal has wrapped it", () => {
  expect(shownScreen(["$ TOKEN=abcd", "efghij make", "done"], 12)).toEqual([
    "$ TOKEN=••• ",
    "make",
    "done",
  ]);
  expect(shownScreen(["0123456789ab", "cdef"], 12)).toEqual(["0123456789ab", "cdef"]);
});
