/** Files that programs write for themselves beside those of people: editors, shells, package managers. */
const NOISE_FILES: readonly RegExp[] = [
  /^\..*\.sw[a-z]$|~$|^\.#|^#.*#$|^4913$|\.(bak|orig|rej|tmp|pid|pyc)$/,
  /^\.(bash_history|python_history|node_repl_history|viminfo|lesshst|wget-hsts|rnd|sudo_as_admin_successful)$/,
  /^(package-lock\.json|npm-shrinkwrap\.json|yarn\.lock|pnpm-lock\.yaml|bun\.lockb?|.*\.lock|\.package-lock\.json)$/,
  /^(\.DS_Store|Thumbs\.db|\.coverage|\.(eslint|stylelint)cache|.*\.tsbuildinfo)$/,
  /^(\.pwd\.lock|lock|lock-frontend|go\.sum|.*-(journal|wal|shm))$/,
];

/** Whether a file is one that programs keep for themselves, wherever it lies. */
export function isFileNoise(path: string): boolean {
  const name = path.slice(path.lastIndexOf("/") + 1);
  return NOISE_FILES.some((pattern) => pattern.test(name));
}
