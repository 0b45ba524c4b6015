import { expect, test } from "vitest";
import { compareDebianVersions, compareVersions } from "./compare-versions.ts";

function signs(compare: (one: string, other: string) => number, pairs: string[]) {
  return pairs.map((pair) => {
    const [one = "", other = ""] = pair.split(" ");
    return [Math.sign(compare(one, other)), Math.sign(compare(other, one)) || 0];
  });
}

test("Debian's versions are ordered as its policy says", () => {
  const older = [
    ...["1.0 1.1", "1.9 1.10", "2:0.1 3:0.0", "9 1:0", "1.0-1 1.0-2", "1.0-9 1.0-10"],
    ...["1.0~rc1 1.0", "1.0~rc1-1 1.0-1", "1.0~~ 1.0~", "1.0 1.0a", "1.0a 1.0+b"],
    ...["1.0-1 1.0-1+deb12u1", "7.88.1-10 7.88.1-10+deb12u5", "15.5-0 15.10-0", "a b"],
    ...["1.2.3 1.2.3.1", "0.99999999999999999999 0.100000000000000000000"],
  ];

  expect(signs(compareDebianVersions, older)).toEqual(older.map(() => [-1, 1]));
  expect(signs(compareDebianVersions, ["1.0 1.0", "0:1.0 1.0", "1.0 1.00"])).toEqual(
    Array(3).fill([0, 0]),
  );
});

test("other versions are ordered by number, and what leads to a release comes before it", () => {
  const older = [
    ...["1.2.3 1.2.10", "1.0.0-alpha 1.0.0-beta", "1.0.0-alpha.1 1.0.0-alpha.2"],
    ...["1.0.0-rc.1 1.0.0", "v1.2.3 v1.3.0", "2.0.dev1 2.0a1", "2.0a1 2.0b1", "2.0rc1 2.0"],
    ...["2.0 2.0.post1", "2.0.post1 2.0.1", "v0.0.0-20230101 v0.1.0"],
  ];

  expect(signs(compareVersions, older)).toEqual(older.map(() => [-1, 1]));
  expect(signs(compareVersions, ["1.0 1.0.0", "1.0+build1 1.0+build2"])).toEqual(
    Array(2).fill([0, 0]),
  );
});
