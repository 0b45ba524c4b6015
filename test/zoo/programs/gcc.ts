import { workProgram } from "../work-program.ts";

const FUNCTIONS = 2500;
const STEP_BYTES = 20_000;
const SOURCE = `
{ for i in $(seq ${FUNCTIONS}); do
    echo "int f$i(int x) { int s = x; for (int k = 0; k < x; k++) s += k * $i ^ s; return s; }"
  done
  echo 'int main(void) { return f1(0) + 42; }'
} > /srv/big.c
`;
/** Lets so much of the assembler's text pass for each mark, and at the end the rest. */
const GATE = `
exec 3<> /srv/gate
while read -r mark <&3 && [ $mark != end ]; do
  head -c ${STEP_BYTES}
  echo $mark >> /srv/marks
done
cat
`;

/** The compiler goes on, function by function, as far as its output is taken. */
export const gcc = workProgram({
  name: "gcc, compiling one large file",
  version: "gcc --version",
  prepare: async (stage) => {
    await stage.write("/srv/gate.sh", GATE);
    await stage.run(`${SOURCE} mkfifo /srv/gate; touch /srv/marks`);
  },
  command:
    "set -o pipefail; gcc -O2 -S -o - /srv/big.c | bash /srv/gate.sh | gcc -x assembler -c -o /srv/big.o - && gcc -o /srv/big /srv/big.o",
  see: "pgrep -x cc1 && cat /srv/marks",
  step: (mark) =>
    `echo ${mark} > /srv/gate; until grep -qx ${mark} /srv/marks; do sleep 0.05; done`,
  end: "echo end > /srv/gate",
  check: `test $(nm /srv/big.o | grep -c ' T f') = ${FUNCTIONS}; /srv/big; test $? = 42`,
});
