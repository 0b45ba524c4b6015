import { expect, test } from "vitest";
import { type ApprovalPolicy, findHeldStep, policyOf } from "./index.ts";

const POLICY = policyOf("default") as ApprovalPolicy;
const OWN = policyOf(
  JSON.stringify({ defaults: false, commands: [["deploy"]], destinations: ["*.example.com"] }),
) as ApprovalPolicy;

test.each([
  ["git push"],
  ["git push origin main"],
  ["/usr/bin/git push"],
  ["git -C dir push"],
  ["git --no-pager -c a=b push --force"],
  ["'git' \"push\""],
  ["g\\it pu'sh'"],
  ["git \\\n push"],
  ["make && git push"],
  ["make; git push"],
  ["make\ngit push"],
  ["true || git push"],
  ["sleep 1 & git push"],
  ["echo x | git push"],
  ["(cd a; git push)"],
  ["echo $(git push)"],
  ['echo "$(git push)"'],
  ["echo `git push`"],
  ['echo "`git push`"'],
  ["echo $" + "{X:-$(git push)}"],
  ["cat <(git push)"],
  ["A=1 B=2 git push"],
  ["env A=1 git push"],
  ["sudo -u me git push"],
  ["nohup git push >log 2>&1 &"],
  ["git push>/dev/null"],
  [">log git push"],
  ["2>log git push"],
  ["timeout -s KILL 10 git push"],
  ["echo main | xargs -n1 git push origin"],
  ["find . -name .git -exec git push \\;"],
  ["sh -c 'git push'"],
  ["bash -lc 'make && git push'"],
  ["sudo bash -c \"sh -c 'git push'\""],
  ["eval 'git push'"],
  ["eval git push"],
  ["if true; then git push; fi"],
  ["for r in a b; do git push $r; done"],
  ["! git push"],
  ["time git push"],
  ["gp() { git push; }; gp"],
  ["alias gp='git push'"],
  ["case x in x) git push;; esac"],
  ["git $COMMAND"],
  ["$GIT push"],
  ["X='git push'; $X"],
  ["python3 -c \"import os; os.system('git push')\""],
  ['node -e \'spawn("git", ["push"])\''],
  ["git push 'not ended"],
  ["cat <<END | sh\ngit push\nEND"],
  ["npm publish"],
  ["npm --tag next publish"],
  ["yarn npm publish"],
  ["terraform -chdir=infra apply -auto-approve"],
  ["kubectl -n prod delete pod x"],
  ["echo hello | mail -s x me@example.com"],
  ["curl -X POST https://api.example.com/x"],
  ["curl -XDELETE https://api.example.com/x"],
  ["curl -sXPUT https://api.example.com/x"],
  ["curl --request=POST https://api.example.com"],
  ["curl --request post https://api.example.com"],
  ["curl -d a=b https://api.example.com"],
  ["curl -sd a=b https://api.example.com"],
  ["curl --data-raw x https://api.example.com"],
  ["curl --json '{}' https://api.example.com"],
  ["curl -F a=@b https://api.example.com"],
  ["curl -T file https://api.example.com/"],
  ["wget --method=PUT https://api.example.com"],
  ["wget --post-data=a https://api.example.com"],
  ["http POST api.example.com a=b"],
  ["http api.example.com a=b"],
  ["sudo curl -d a=b https://api.example.com"],
])("%j is held", (line) => {
  expect(findHeldStep(line, POLICY)).not.toBeNull();
});

test.each([
  ["git pushd"],
  ["git status"],
  ["git stash push"],
  ["git commit -m push"],
  ["git log --grep push"],
  ["echo git push"],
  ["echo 'git push'"],
  ["# git push"],
  ["make # then git push"],
  ["grep -r 'git push' ."],
  ["git checkout $BRANCH"],
  ["$EDITOR file"],
  ["npm run publisher"],
  ["npm test"],
  ["terraform plan"],
  ["ls mail"],
  ["cat sendmail.c"],
  ["curl https://api.example.com"],
  ["curl -G -d q=1 https://api.example.com"],
  ["curl -o POST https://api.example.com"],
  ["curl -H 'X-A: d' https://api.example.com"],
  ["curl -X POST http://localhost:3000/x"],
  ["curl -d a=b http://127.0.0.1:8080"],
  ["curl -d a=b http://[::1]:8080/"],
  ["wget https://api.example.com/x"],
  ["http GET api.example.com"],
  ["python3 -c 'print(1)'"],
  ["ls 2>&1 | tee log"],
  [""],
])("%j is not held", (line) => {
  expect(findHeldStep(line, POLICY)).toBeNull();
});

test.each([
  ["scp a me@db.example.com:/srv", true],
  ["ssh db.example.com ls", true],
  ["psql postgres://u:p@db.example.com:5432/app", true],
  ["nc db.example.com 25", true],
  ["curl https://api.example.com/x", true],
  ["deploy now", true],
  ["curl https://example.org", false],
  ["git push", false],
  ["curl -X POST https://example.org", false],
])("with a policy of its own %j is held: %s", (line, isHeld) => {
  expect(findHeldStep(line, OWN) !== null).toBe(isHeld);
});

test("says by which rule", () => {
  const ruleOf = (line: string, policy = POLICY) => findHeldStep(line, policy)?.rule;

  expect(ruleOf("sudo git -C a push")).toBe("git push");
  expect(ruleOf("curl -d a https://x.org")).toBe("POST by curl");
  expect(ruleOf("nc db.example.com 25", OWN)).toBe("to *.example.com");
  expect(ruleOf("x".repeat(300_000))).toBe("a line too long to be read");
});

test("a line deep in others ends, and is held", () => {
  const nested = Array.from({ length: 200 }, () => "$(").join("");
  expect(findHeldStep(`${nested}git push`, POLICY)).not.toBeNull();
  const shells = Array.from({ length: 12 }).reduce(
    (inner: string) => `sh -c ${`'${inner.replaceAll("'", "'\\''")}'`}`,
    "true",
  );
  expect(findHeldStep(shells, POLICY)).not.toBeNull();
});

test("a policy is off, the default or JSON, and nothing else", () => {
  expect(policyOf("off")).toBeNull();
  expect(POLICY).toMatchObject({ timeoutMs: 900_000, methods: expect.arrayContaining(["POST"]) });
  expect(OWN).toMatchObject({ commands: [["deploy"]], methods: [] });
  const refused = expect.objectContaining({ code: "USAGE_INVALID" });
  for (const text of [
    "on",
    "",
    "[]",
    '{"command": []}',
    '{"commands": [[]]}',
    '{"methods":["post"]}',
  ]) {
    expect(() => policyOf(text)).toThrow(refused);
  }
  expect(() => policyOf('{"timeoutSeconds": 0}')).toThrow(refused);
  expect(() => policyOf(" ".repeat(70_000))).toThrow(refused);
});
