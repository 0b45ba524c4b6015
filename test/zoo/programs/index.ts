import { bash } from "./bash.ts";
import { bashHereDocument } from "./bash-here-document.ts";
import { caddy } from "./caddy.ts";
import { chromium } from "./chromium.ts";
import { dash } from "./dash.ts";
import { descriptors } from "./descriptors.ts";
import { emacs } from "./emacs.ts";
import { expect } from "./expect.ts";
import { files } from "./files.ts";
import { fish } from "./fish.ts";
import { flask } from "./flask.ts";
import { fzf } from "./fzf.ts";
import { gcc } from "./gcc.ts";
import { getpass } from "./getpass.ts";
import { gitRebase } from "./git-rebase.ts";
import { haproxy } from "./haproxy.ts";
import { irb } from "./irb.ts";
import { java } from "./java.ts";
import { largeFile } from "./large-file.ts";
import { less } from "./less.ts";
import { make } from "./make.ts";
import { mariadb } from "./mariadb.ts";
import { mc } from "./mc.ts";
import { mksh } from "./mksh.ts";
import { nano } from "./nano.ts";
import { nginx } from "./nginx.ts";
import { node20 } from "./node-20.ts";
import { node24 } from "./node-24.ts";
import { nodemon } from "./nodemon.ts";
import { npmInstall } from "./npm-install.ts";
import { oddDescriptors } from "./odd-descriptors.ts";
import { oddProcesses } from "./odd-processes.ts";
import { postgresql } from "./postgresql.ts";
import { processTree } from "./process-tree.ts";
import { pythonAsyncio } from "./python-asyncio.ts";
import { pythonMultiprocessing } from "./python-multiprocessing.ts";
import { pythonRepl } from "./python-repl.ts";
import { pythonThreads } from "./python-threads.ts";
import { redis } from "./redis.ts";
import { sbcl } from "./sbcl.ts";
import { setuid } from "./setuid.ts";
import { sharedMemory } from "./shared-memory.ts";
import { sockets } from "./sockets.ts";
import { sqlite } from "./sqlite.ts";
import { ssh } from "./ssh.ts";
import { sshAgent } from "./ssh-agent.ts";
import { sudo } from "./sudo.ts";
import { supervisord } from "./supervisord.ts";
import { tail } from "./tail.ts";
import { tmux } from "./tmux.ts";
import { top } from "./top.ts";
import { vim } from "./vim.ts";
import { vite } from "./vite.ts";
import { zsh } from "./zsh.ts";

/** The zoo, in the order of docs/compatibility.md. */
export const PROGRAMS = [
  ...[bash, bashHereDocument, zsh, fish, dash, mksh],
  ...[tmux, vim, emacs, nano, less, top, tail, mc, fzf],
  ...[expect, sudo, ssh, getpass],
  ...[pythonRepl, pythonThreads, pythonAsyncio, pythonMultiprocessing, flask, irb, sbcl],
  ...[node20, node24, vite, nodemon, npmInstall],
  ...[gitRebase, make, gcc],
  ...[redis, postgresql, mariadb, sqlite, nginx, caddy, haproxy],
  ...[java, chromium, sshAgent, supervisord],
  ...[processTree, oddProcesses, sharedMemory, descriptors, oddDescriptors],
  ...[files, largeFile, sockets, setuid],
];
