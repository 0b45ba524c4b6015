import { ERROR_REGISTRY } from "../../../shared/errors/index.ts";
import type { CommandSpec } from "../command-spec.ts";
import { parseSize } from "../parse-values.ts";
import { commandOf, option } from "./from-contract.ts";

/** Commands about this machine and the daemon. */
export const HOST_COMMANDS: readonly CommandSpec[] = [
  {
    name: "doctor",
    summary: "Check what this machine can do and what is missing",
    examples: [["waypoint doctor", "Each check with its fix"]],
    answers: [
      { exitCode: 0, meaning: "this machine can run Waypoint" },
      { exitCode: ERROR_REGISTRY.HOST_UNSUPPORTED.exitCode, meaning: "a check failed" },
    ],
    load: () => import("../commands/doctor.ts"),
  },
  {
    name: "setup",
    summary: "Install what this machine lacks",
    options: () => [
      {
        flags: "--unit",
        description: "Also have systemd keep the daemon, beyond logouts and reboots",
      },
    ],
    examples: [
      ["sudo waypoint setup", "Needed once per machine"],
      ["sudo waypoint setup --unit", "Where systemd runs: the daemon as its service"],
    ],
    errors: ["SETUP_FAILED", "SETUP_INCOMPLETE"],
    load: () => import("../commands/setup.ts"),
  },
  {
    name: "completion",
    summary: "Print what makes a shell complete commands, sessions and checkpoints",
    description: "For the startup file of the shell; it asks the daemon at each Tab, if one runs.",
    arguments: () => [
      { name: "<shell>", description: "bash, zsh or fish", choices: ["bash", "zsh", "fish"] },
    ],
    examples: [
      ["waypoint completion bash", "In ~/.bashrc: source <(waypoint completion bash)"],
      ["waypoint completion zsh", "In ~/.zshrc, after compinit: source <(waypoint completion zsh)"],
      ["waypoint completion fish", "Into ~/.config/fish/completions/waypoint.fish"],
    ],
    load: () => import("../commands/completion.ts"),
  },
  {
    name: "daemon",
    summary: "Run the daemon in the foreground",
    description: "Other commands start it in the background when they need it.",
    options: () => [
      {
        flags: "--images-memory <size>",
        description:
          "Memory for process images until they are in the store [a quarter of the memory]",
        parse: parseSize,
      },
    ],
    examples: [
      ["waypoint daemon", "For a service manager"],
      ["waypoint daemon --images-memory 2G", "Where sessions are large and memory is scarce"],
    ],
    errors: ["STATE_DIR_BUSY", "SETUP_INCOMPLETE", "PRIVILEGE_MISSING"],
    load: () => import("../commands/daemon.ts"),
    subcommands: [
      commandOf("daemon.status", {
        name: "status",
        note: "Does not start it.",
        load: () => import("../commands/daemon-status.ts"),
      }),
      commandOf("daemon.stop", {
        name: "stop",
        options: () => [option("daemon.stop", "sessions")],
        load: () => import("../commands/daemon-stop.ts"),
      }),
    ],
  },
];
