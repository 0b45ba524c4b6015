import { workProgram } from "../work-program.ts";

const FUNCTIONS = 6000;
const SOURCE = `
{ for i in $(seq ${FUNCTIONS}); do
    echo "int f$i(int x) { int s = x; for (int k = 0; k < x; k++) s += k * $i ^ s; return s; }"
  done
  echo 'int main(void) { return f1(0) + 42; }'
} > /srv/big.c
`;

export const gcc = workProgram({
  name: "gcc, compiling one large file",
  version: "gcc --version",
  prepare: async (stage) => void (await stage.run(SOURCE)),
  command: "gcc -O2 -pipe -o /srv/big /srv/big.c",
  underWay: "pgrep -x cc1 && pgrep -x as",
  check: "/srv/big; test $? = 42",
});
