/** Programs with the words after them, by what they do that nobody takes back. */
const TEXT = `
git push, git send-email, git subtree push, git lfs push, git svn dcommit, git p4 submit,
svn commit, svn ci, hg push, jj git push, gt submit, glab mr create, glab mr merge,
gh pr create, gh pr merge, gh pr close, gh pr comment, gh pr edit, gh pr review, gh pr ready,
gh issue close, gh issue comment, gh issue edit, gh issue delete, gh gist create, gh secret set,
gh secret delete, gh variable set, gh repo edit, gh repo archive, gh repo rename, gh repo sync,
gh release edit, gh release upload, gh run rerun, gh run cancel, gh workflow enable, gh workflow disable, gh release create, gh release delete,
gh repo create, gh repo delete, gh issue create, gh workflow run,
npm publish, npm unpublish, npm deprecate, npm dist-tag add, npm dist-tag rm, npm owner add, npm access,
lerna publish, changeset publish, semantic-release, nx release, jsr publish, deno publish,
vsce publish, ovsx publish, goreleaser release, mix hex.publish, luarocks upload, pub publish,
pnpm publish, yarn publish, yarn npm publish, bun publish,
cargo publish, cargo yank, twine upload, poetry publish, uv publish, flit publish, hatch publish,
gem push, gem yank, mvn deploy, gradle publish, gradlew publish, dotnet nuget push, nuget push,
docker push, docker image push, docker compose push, docker manifest push, docker stack deploy,
docker service update, buildah push, crane push, crane copy, oras push, podman push, podman image push, skopeo copy, helm push,
terraform apply, terraform destroy, terraform import, terraform taint, terraform state rm,
terraform state mv, terraform state push, tofu apply, tofu destroy, terragrunt apply, terragrunt destroy,
pulumi up, pulumi destroy, cdk deploy, cdk destroy, serverless deploy, serverless remove,
kubectl apply, kubectl create, kubectl delete, kubectl patch, kubectl replace, kubectl scale,
kubectl edit, kubectl set, kubectl run, kubectl expose, kubectl autoscale, kubectl label,
kubectl annotate, kubectl taint, kubectl drain, kubectl cordon, kubectl uncordon, kubectl exec,
kubectl rollout restart, kubectl rollout undo, oc apply, oc delete, oc rollout, helm rollback,
helmfile apply, helmfile sync, helmfile destroy, kustomize edit, argocd app sync, flux reconcile,
helm install, helm upgrade, helm uninstall, ansible-playbook,
aws s3 rm, aws s3 rb, aws s3 mb, sam deploy, copilot deploy, gsutil rm, gsutil cp, gsutil mv,
gsutil rsync, s3cmd put, s3cmd del, s3cmd sync, rclone copy, rclone sync, rclone move, rclone delete,
rclone purge, heroku config:set, heroku releases:rollback, heroku ps:scale, kamal deploy, railway up,
eas submit, eas update, doctl apps update, fly deploy, flyctl deploy, vercel deploy, netlify deploy, firebase deploy,
wrangler deploy, wrangler publish, gcloud app deploy, gcloud run deploy,
mail, mailx, s-nail, sendmail, ssmtp, msmtp, mutt, neomutt, swaks, aws ses send-email`;

/** What is held by default. */
export const DEFAULT_COMMANDS: readonly (readonly string[])[] = TEXT.split(",").map((rule) =>
  rule.trim().split(" "),
);
