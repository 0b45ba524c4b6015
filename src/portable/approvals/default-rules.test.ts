import { expect, test } from "vitest";
import { type ApprovalPolicy, findHeldStep, policyOf } from "./index.ts";

const POLICY = policyOf("default") as ApprovalPolicy;

/** Lines as agents write them, by what they would do. */
const HELD = `
git -C app push --force-with-lease origin HEAD
git -c alias.p=push p
git -c alias.x='!git push origin' x
git config alias.p push && git -c alias.p=push p
git subtree push --prefix docs origin gh-pages
git lfs push origin main
svn commit -m x
hg push
gh pr create --fill
gh pr comment 12 --body done
gh release create v1.2.3 dist/*.tgz
gh release upload v1 a.zip
gh api -X DELETE repos/o/r
gh api repos/o/r/issues -f title=x
glab mr create
npm publish --access public
pnpm -r publish
yarn npm publish
npx semantic-release
npx --yes vsce publish
npm dist-tag add a@1 latest
lerna publish from-git
cargo publish -p core
cargo +nightly publish
gem push a-1.0.gem
bundle exec gem push a.gem
twine upload dist/*
python3 -m twine upload dist/*
uv run twine upload dist/*
uv publish
poetry publish --build
mvn -B deploy
./gradlew publish
dotnet nuget push a.nupkg
docker push registry.example.com/a:1
docker image push a
docker compose push
podman push a
skopeo copy a docker://b
helm push a.tgz oci://r
helm upgrade --install web ./chart
helm -n prod rollback web 1
kubectl apply -f k8s/
kubectl --context prod delete pod web-0
kubectl -n prod rollout restart deployment/web
kubectl exec -it web-0 -- sh
terraform apply
terraform -chdir=infra destroy -auto-approve
terraform state rm aws_instance.a
tofu apply
aws s3 rm s3://bucket/key
aws --profile prod s3 rb s3://bucket --force
aws s3 cp dist s3://bucket --recursive
aws s3 sync ./site s3://bucket
aws ec2 terminate-instances --instance-ids i-1
aws lambda update-function-code --function-name f
gcloud run deploy web
gcloud compute instances delete vm-1
az group delete -n rg
gsutil cp a gs://b
rclone sync . remote:x
fly deploy
sendmail me@example.com
/usr/sbin/sendmail -t
mail -s hello me@example.com
msmtp me@example.com
echo hi | mailx me@example.com
curl --data a=b https://api.example.com
curl -d @body.json https://api.example.com
curl -F file=@a https://api.example.com
curl --json '{}' https://api.example.com
curl -T a https://api.example.com/
curl --upload-file a https://api.example.com/
curl -sSL -X PATCH https://api.example.com
curl -fsS --data-binary @a https://api.example.com
curl --url smtp://mail.example.com --mail-rcpt a@b.c
wget --post-data a=b https://api.example.com
wget --post-file=a https://api.example.com
wget --method DELETE https://api.example.com
http POST api.example.com/x a=b
http PUT https://api.example.com/x
https api.example.com/x name=v
xh post api.example.com
scp -r dist deploy@www.example.com:/srv
scp -P 22 a www.example.com:
rsync -az dist/ www.example.com:/srv/
rsync a rsync://www.example.com/x
ssh www.example.com 'systemctl restart web'
ssh -i key -p 2222 me@www.example.com rm -rf /srv/x
ssh www.example.com "ls; rm x"
ssh www.example.com git push
psql -h db.example.com -c 'delete from users'
psql -hdb.example.com -f migrate.sql
psql postgres://u@db.example.com/app -c "update t set a=1"
psql "host=db.example.com dbname=app" -c "drop table t"
psql -h db.example.com -c "WITH x AS (delete from t RETURNING *) select * from x"
psql -h db.example.com app
mysql -h db.example.com -e 'TRUNCATE t'
pg_restore -h db.example.com -d app a.dump
dropdb --host=db.example.com app
redis-cli -h cache.example.com FLUSHALL
redis-cli -u redis://cache.example.com del a
mongosh mongodb://db.example.com --eval 'db.t.drop()'
sudo -E env A=1 docker push a
timeout 60 terraform apply
docker build . && docker push a
while true; do git push; sleep 5; done
ansible-playbook site.yml
`;

const FREE = `
git -C app pull
git fetch --all
git -c alias.p=pull p
git stash push -m wip
git remote add origin git@example.com:a
git commit -m "git push later"
git log --oneline origin/main..HEAD
git branch push
svn update
hg pull
gh pr list
gh pr view 12
gh release list
gh api repos/o/r
gh api -X GET repos/o/r
npm install
npm run build
npm pack
npm view a
pnpm test
npm audit
yarn add publish
cargo build --release
cargo package
gem install a
bundle exec rspec
twine check dist/*
uv run pytest
uv pip install a
poetry install
mvn -B package
./gradlew build
docker build -t mail .
docker pull a
docker compose up -d
podman ps
helm template ./chart
helm list
kubectl get pods
kubectl logs web-0
kubectl describe pod web-0
kubectl rollout status deployment/web
terraform plan -out plan
terraform fmt
terraform state list
aws s3 ls
aws s3 cp s3://bucket/key .
aws sts get-caller-identity
aws ec2 describe-instances
aws configure set region eu-west-1
gcloud config set project x
gcloud compute instances list
az account set -s x
ls -l mail
grep -rn sendmail src
cat docs/mail.md
sudo cat mail
find . -name mail
mkdir mail
which sendmail
man mail
curl https://example.com
curl -fsSL https://example.com/install.sh -o install.sh
curl -I https://example.com
curl -H 'Content-Type: application/json' https://example.com
curl -d a=b http://localhost:3000
curl -X POST http://127.0.0.1:8080/x
curl -G --data-urlencode q=x https://example.com
curl -o data https://example.com
curl -u user:pass https://example.com
wget -O post-data https://example.com
http example.com
http GET example.com
http localhost:3000 a=b
scp www.example.com:/srv/a .
scp a b
rsync -a src/ dest/
rsync -az www.example.com:/srv/ .
rsync -avn dist/ www.example.com:/srv/
ssh-keygen -t ed25519
ssh www.example.com uptime
ssh -p 22 me@www.example.com ls -l /srv
ssh www.example.com 'git status'
ssh localhost rm x
psql -h localhost -c 'delete from users'
psql -h /var/run/postgresql -c 'delete from users'
psql -c 'delete from users'
psql -h db.example.com -c 'SELECT 1'
psql -h db.example.com -l
psql postgres://localhost/app -c "drop table t"
mysql -e 'drop table t'
mysql -h db.example.com -e 'SHOW TABLES'
redis-cli FLUSHALL
redis-cli -h cache.example.com GET a
redis-cli -h cache.example.com INFO
pytest tests/test_push.py
make test
vim publish.sh
sed -i s/push/pull/ a
echo "terraform apply"
rg 'npm publish' .github
`;

const linesOf = (text: string) => text.split("\n").filter((line) => line !== "");

test.each(linesOf(HELD))("%s is held", (line) => {
  expect(findHeldStep(line, POLICY)).not.toBeNull();
});

test.each(linesOf(FREE))("%s is not held", (line) => {
  expect(findHeldStep(line, POLICY)).toBeNull();
});

test("what is for other machines is left to a policy that has no defaults", () => {
  const own = policyOf('{"defaults": false, "commands": [["deploy"]]}') as ApprovalPolicy;

  expect(findHeldStep("scp a www.example.com:", own)).toBeNull();
  expect(findHeldStep("scp a www.example.com:", POLICY)?.rule).toBe("scp to another machine");
});
