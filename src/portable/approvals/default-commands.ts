/** Programs with the words after them, by what they do that nobody takes back. */
const TEXT = `
git push, git send-email, gh pr create, gh pr merge, gh release create, gh release delete,
gh repo create, gh repo delete, gh issue create, gh workflow run,
npm publish, npm unpublish, npm deprecate, pnpm publish, yarn publish, yarn npm publish, bun publish,
cargo publish, cargo yank, twine upload, poetry publish, uv publish, flit publish, hatch publish,
gem push, gem yank, mvn deploy, gradle publish, gradlew publish, dotnet nuget push, nuget push,
docker push, docker image push, podman push, podman image push, skopeo copy, helm push,
terraform apply, terraform destroy, tofu apply, tofu destroy, terragrunt apply, terragrunt destroy,
pulumi up, pulumi destroy, cdk deploy, cdk destroy, serverless deploy, serverless remove,
kubectl apply, kubectl create, kubectl delete, kubectl patch, kubectl replace, kubectl scale,
helm install, helm upgrade, helm uninstall, ansible-playbook,
aws s3 rm, aws s3 rb, fly deploy, flyctl deploy, vercel deploy, netlify deploy, firebase deploy,
wrangler deploy, wrangler publish, gcloud app deploy, gcloud run deploy,
mail, mailx, sendmail, msmtp, mutt, swaks`;

/** What is held by default. */
export const DEFAULT_COMMANDS: readonly (readonly string[])[] = TEXT.split(",").map((rule) =>
  rule.trim().split(" "),
);
