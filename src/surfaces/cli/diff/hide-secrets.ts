/** Names of variables whose values are for nobody's eyes. */
const SECRET_NAME = /TOKEN|SECRET|PASSW|PASSPHRASE|CREDENTIAL|KEY/i;
/** A password in an address: postgres://user:password@host. */
const IN_ADDRESS = /(:\/\/[^\s/:@]*:)[^\s/@]+@/g;
const HIDDEN = "•••";

/**
 * Returns a variable's value as it may be shown on a screen that others see, too. What it hides is
 * in the answer itself, which `--json` prints.
 */
export function hideSecret(name: string, value: string): string {
  if (value === "") return value;
  return SECRET_NAME.test(name) ? HIDDEN : value.replace(IN_ADDRESS, `$1${HIDDEN}@`);
}
