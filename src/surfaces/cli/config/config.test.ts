import {
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import os from "node:os";
import path from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { allow } from "./allowed.ts";
import { type ConfigPlace, readConfigText, userFile } from "./config-files.ts";
import { withKey, writeConfigFile } from "./edit-config.ts";
import { CONFIG_KEY_NAMES, type ConfigKey } from "./keys.ts";
import { parseConfig } from "./parse-config.ts";
import { readConfig } from "./read-config.ts";

let scratch: string;
let place: ConfigPlace;
let repository: string;

beforeEach(() => {
  scratch = mkdtempSync(path.join(os.tmpdir(), "waypoint-config-"));
  repository = path.join(scratch, "repository");
  mkdirSync(path.join(repository, "deep", "in"), { recursive: true });
  place = { env: {}, cwd: path.join(repository, "deep", "in"), home: scratch };
});

afterEach(() => rmSync(scratch, { recursive: true }));

const writeUser = (text: string) => writeConfigFile(userFile(place), text);
const ofRepository = () => path.join(repository, ".waypoint.toml");
const settingOf = async (key: ConfigKey) => (await readConfig(place)).settings[key].value;

test("without files each key is what is built in", async () => {
  const { settings, held, problems } = await readConfig(place);

  expect(Object.keys(settings)).toEqual(CONFIG_KEY_NAMES);
  expect(Object.values(settings).every(({ source }) => source === "built-in")).toBe(true);
  expect(settings["detach-keys"].value).toBe("ctrl-],d");
  expect({ held, problems }).toEqual({ held: [], problems: [] });
});

test("the user's file sets every key, and says on which line", async () => {
  writeUser(
    '# mine\n\nverify = "npm test"\nauto = "task,edit"\nbase = "node"\nnoise = ["*.log"]\n',
  );

  const { settings } = await readConfig(place);

  expect(settings.verify).toMatchObject({ value: "npm test", source: "user", line: 3 });
  expect(settings.auto).toMatchObject({ value: "edit,task", file: userFile(place), line: 4 });
  expect(settings.base.value).toBe("node");
  expect(settings.noise.value).toEqual(["*.log"]);
});

test("XDG_CONFIG_HOME moves the user's file, unless it is no whole path", () => {
  expect(userFile({ ...place, env: { XDG_CONFIG_HOME: "/elsewhere" } })).toBe(
    "/elsewhere/waypoint/config.toml",
  );
  expect(userFile({ ...place, env: { XDG_CONFIG_HOME: "else" } })).toBe(
    path.join(scratch, ".config/waypoint/config.toml"),
  );
});

test("the environment goes before the directory's file, that before the user's", async () => {
  writeUser('colours = "always"\n');
  expect(await settingOf("colours")).toBe("always");

  writeFileSync(ofRepository(), 'colours = "auto"\n');
  expect(await settingOf("colours")).toBe("auto");

  place.env = { NO_COLOR: "1" };
  const { colours } = (await readConfig(place)).settings;
  expect(colours).toMatchObject({ value: "never", source: "environment" });
});

test("the nearest directory's file is the one", async () => {
  writeFileSync(ofRepository(), 'noise = ["far"]\n');
  writeFileSync(path.join(repository, "deep", ".waypoint.toml"), 'noise = ["near"]\n');

  expect(await settingOf("noise")).toEqual(["near"]);
});

test("a directory's file sets what is shown alone, and nothing that acts or takes keys", async () => {
  writeUser('verify = "mine"\n');
  writeFileSync(
    ofRepository(),
    'verify = "evil"\nauto = "hybrid"\nbase = "/evil"\ndetach-keys = "r"\nnoise = ["x"]\n',
  );

  const { settings, held } = await readConfig(place);

  expect(settings.verify).toMatchObject({ value: "mine", source: "user" });
  expect([settings.auto.value, settings.base.value]).toEqual([null, null]);
  expect(settings["detach-keys"].value).toBe("ctrl-],d");
  expect(settings.noise).toMatchObject({ value: ["x"], source: "directory" });
  expect(held.map(({ key }) => key)).toEqual(["verify", "auto", "base", "detach-keys"]);
});

test("no directory's file turns a policy of approvals off, allowed or not", async () => {
  const write = (text: string, isAllowed: boolean) => {
    writeFileSync(ofRepository(), text);
    if (isAllowed) allow(place, ofRepository(), text);
  };
  writeUser('approve = "default"\n');
  for (const value of ["off", "{}", '{"defaults": false}', "/policy"]) {
    for (const isAllowed of [false, true]) {
      write(`approve = '${value}'\n`, isAllowed);
      expect(await settingOf("approve")).toBe("default");
      expect((await readConfig(place)).held).toMatchObject([{ key: "approve", isAllowed }]);
    }
  }
  writeUser("");
  write('approve = "default"\n', false);
  expect(await settingOf("approve")).toBeNull();
  write('approve = "default"\n', true);
  expect(await settingOf("approve")).toBe("default");
  write('approve = "/srv/repository/policy.json"\n', true);
  expect(await settingOf("approve")).toBeNull();
});

test("a directory's file that was allowed sets all, until it changes or is elsewhere", async () => {
  const text = 'verify = "npm test"\n';
  writeFileSync(ofRepository(), text);
  allow(place, ofRepository(), text);
  expect(await settingOf("verify")).toBe("npm test");

  writeFileSync(ofRepository(), `${text}# more\n`);
  expect(await settingOf("verify")).toBeNull();

  rmSync(ofRepository());
  writeFileSync(path.join(repository, "deep", ".waypoint.toml"), text);
  expect(await settingOf("verify")).toBeNull();
});

test.for([
  ["verify = [", 1, undefined],
  ["\ncolors = 1", 2, "colors"],
  ['auto = "sometimes"', 1, "auto"],
  ["auto = 5", 1, "auto"],
  ['detach-keys = "ctrl-"', 1, "detach-keys"],
  ['base = "../up"', 1, "base"],
  ['approve = "on"', 1, "approve"],
  ['approve = "[]"', 1, "approve"],
  ["approve = false", 1, "approve"],
  ['colours = "rainbow"', 1, "colours"],
  ['noise = "*.log"', 1, "noise"],
  [`noise = [${'"x",'.repeat(65)}]`, 1, "noise"],
  [`noise = ["${"x".repeat(101)}"]`, 1, "noise"],
  ["[verify]\ncommand = 1", 1, "verify"],
  ["[__proto__]\na = 1", 1, undefined],
] as const)("%j is refused with its file and line", async ([text, line, key]) => {
  const refused = parseConfig("/some/file", text);

  await expect(refused).rejects.toMatchObject({
    code: "CONFIG_INVALID",
    message: expect.stringContaining(`/some/file, line ${line}`),
    detail: { file: "/some/file", line, ...(key === undefined ? {} : { key }) },
  });
});

test("a file of nothing but empty lines, as long as may be, is read to its last one", async () => {
  const text = `${"\n".repeat(65_000)}colours = "never"\n`;

  expect(await parseConfig("f", text)).toEqual([{ key: "colours", value: "never", line: 65_001 }]);
});

test("a key that there is not comes with the one that may be meant", async () => {
  await expect(parseConfig("f", 'colors = "auto"')).rejects.toMatchObject({
    hint: expect.stringContaining("Did you mean colours?"),
  });
});

test("a file that cannot be used counts for nothing, and what it has is not told", async () => {
  writeUser('verify = "API_TOKEN=abc npm test"\nverify = "API_TOKEN=abc"\n');
  writeFileSync(ofRepository(), 'colours = "always"\n');

  const { settings, problems } = await readConfig(place);

  expect(settings.verify.source).toBe("built-in");
  expect(settings.colours.value).toBe("always");
  expect(problems).toMatchObject([{ code: "CONFIG_INVALID" }]);
  expect(JSON.stringify(problems.map((each) => each.toJSON()))).not.toContain("abc");
});

test("a directory's file that is a link, a folder, too long or no text is refused", () => {
  const file = ofRepository();
  const read = () => readConfigText(file, { isForeign: true });
  symlinkSync("/etc/hostname", file);
  expect(read).toThrow(/is a link\.$/);
  rmSync(file);
  mkdirSync(file);
  expect(read).toThrow(/is no file\.$/);
  rmSync(file, { recursive: true });
  writeFileSync(file, `#${"x".repeat(65_536)}`);
  expect(read).toThrow(/more than 64 KiB\.$/);
  writeFileSync(file, Buffer.from([0xff, 0xfe]));
  expect(read).toThrow(/is not UTF-8\.$/);
  rmSync(file);
  expect(read()).toBeNull();
});

test("a folder that cannot be made is told, below /proc too", () => {
  const file = "/proc/waypoint-none/config.toml";

  expect(() => writeConfigFile(file, "")).toThrow(
    expect.objectContaining({ code: "USAGE_INVALID", detail: { file } }),
  );
});

test("a user's file that is a link stays one, and what it leads to is written", () => {
  const kept = path.join(scratch, "dotfiles.toml");
  writeFileSync(kept, "");
  mkdirSync(path.dirname(userFile(place)), { recursive: true });
  symlinkSync(kept, userFile(place));

  writeUser('colours = "never"\n');

  expect(lstatSync(userFile(place)).isSymbolicLink()).toBe(true);
  expect(readFileSync(kept, "utf8")).toBe('colours = "never"\n');
});

test("setting a key keeps comments and order, and takes the whole of the value before", async () => {
  const text = '# mine\nnoise = [\n  "auto = 1",\n]\n\n# how\nauto = "task"\n';

  const changed = await withKey(text, "noise", ["*.log"]);
  const added = await withKey(changed, "colours", "never");

  expect(added).toBe('# mine\nnoise = [ "*.log" ]\n\n# how\nauto = "task"\ncolours = "never"\n');
  expect(await withKey(added, "auto", null)).toBe(
    '# mine\nnoise = [ "*.log" ]\n\n# how\ncolours = "never"\n',
  );
  expect(await withKey("", "auto", null)).toBe("");
  expect(await withKey("# end", "verify", 'a "b"')).toBe(
    "# end\nverify = 'a \"b\"'\n".replace("'a \"b\"'", '"a \\"b\\""'),
  );
});
