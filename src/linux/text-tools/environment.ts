import process from "node:process";

/** Returns an environment in which a tool says the same whoever started the daemon. */
export function toolEnvironment(language: "C" | "C.UTF-8" = "C"): NodeJS.ProcessEnv {
  return { PATH: process.env["PATH"] ?? "/usr/bin:/bin", LC_ALL: language };
}

/** The same for git, which reads no configuration and takes no directory for a repository. */
export function gitEnvironment(): NodeJS.ProcessEnv {
  return {
    ...toolEnvironment(),
    ...{ GIT_CONFIG_NOSYSTEM: "1", GIT_CONFIG_GLOBAL: "/dev/null", GIT_DIR: "/dev/null/none" },
  };
}
