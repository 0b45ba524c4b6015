import { passwordProgram } from "../password-program.ts";

const ASK = `import getpass, sys; open(sys.argv[1], "w").write(getpass.getpass())`;

export const getpass = passwordProgram({
  name: "getpass (Python)",
  version: "/usr/bin/python3 --version",
  command: `/usr/bin/python3 -c '${ASK}' $file`,
});
