import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import path from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

interface Source {
  uri: string;
  suites: string[];
  components: string[];
  signedBy: string | null;
}

interface AptSources {
  findDebianUris: (aptDir: string) => string[];
  parseDeb822Sources: (text: string) => Source[];
  parseOneLineSources: (text: string) => Source[];
}

// Not a literal, because the set-up is plain JavaScript without declarations.
const modulePath = path.resolve(import.meta.dirname, "../../scripts/setup/apt-sources.mjs");
const sources = (await import(modulePath)) as AptSources;

const DEBIAN_KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg";

describe("the one-line format", () => {
  test("options, suite and components are told apart", () => {
    const parsed = sources.parseOneLineSources(
      `deb [arch=amd64 signed-by=${DEBIAN_KEYRING}] mirror://a.invalid/debian trixie main contrib # x`,
    );

    expect(parsed).toEqual([
      {
        uri: "mirror://a.invalid/debian",
        suites: ["trixie"],
        components: ["main", "contrib"],
        signedBy: DEBIAN_KEYRING,
      },
    ]);
  });

  test("comments and sources of source code are left out", () => {
    const text = "# deb file:/a bookworm main\ndeb-src file:/b bookworm main\n\n";

    expect(sources.parseOneLineSources(text)).toEqual([]);
  });
});

describe("the deb822 format", () => {
  test("comments, continuation lines and several addresses are understood", () => {
    const parsed = sources.parseDeb822Sources(
      [
        "Types: deb deb-src",
        "# URIs: file:/commented",
        "URIs: file:/a",
        " file:/b",
        "Suites: bookworm bookworm-updates",
        "components: main",
        `Signed-By: ${DEBIAN_KEYRING}`,
      ].join("\n"),
    );

    expect(parsed.map(({ uri }) => uri)).toEqual(["file:/a", "file:/b"]);
    expect(parsed[0]?.suites).toEqual(["bookworm", "bookworm-updates"]);
    expect(parsed[0]?.signedBy).toBe(DEBIAN_KEYRING);
  });

  test("a source that is switched off is left out", () => {
    const text = "Enabled: no\nTypes: deb\nURIs: file:/a\nSuites: sid\nComponents: main\n";

    expect(sources.parseDeb822Sources(text)).toEqual([]);
  });
});

describe("Debian's own address", () => {
  let aptDir: string;
  beforeEach(() => {
    aptDir = mkdtempSync(path.join(tmpdir(), "waypoint-apt-"));
    mkdirSync(path.join(aptDir, "sources.list.d"));
  });
  afterEach(() => rmSync(aptDir, { recursive: true, force: true }));

  test("security archives and third parties are not taken for it", () => {
    const list = [
      "deb http://a.invalid/debian-security bookworm-security main",
      "deb [signed-by=/etc/keyrings/vendor.gpg] http://a.invalid/linux/debian bookworm main",
      "deb http://a.invalid/linux/debian bookworm stable",
      "deb http://a.invalid/apt cloud-sdk-bookworm main",
      "deb cdrom:[Debian]/ bookworm main",
      "deb http://b.invalid/debian bookworm main",
    ];
    writeFileSync(path.join(aptDir, "sources.list"), list.join("\n"));

    expect(sources.findDebianUris(aptDir)).toEqual(["http://b.invalid/debian"]);
  });

  test("one that names Debian's keyring comes first", () => {
    writeFileSync(path.join(aptDir, "sources.list"), "deb http://a.invalid/debian bookworm main");
    writeFileSync(
      path.join(aptDir, "sources.list.d/debian.sources"),
      `Types: deb\nURIs: http://b.invalid/pool\nSuites: bookworm\nComponents: main\nSigned-By: ${DEBIAN_KEYRING}\n`,
    );
    writeFileSync(path.join(aptDir, "sources.list.d/old.list.save"), "deb file:/c sid main");

    const found = sources.findDebianUris(aptDir);

    expect(found).toEqual(["http://b.invalid/pool", "http://a.invalid/debian"]);
  });
});
