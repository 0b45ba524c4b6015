import { workProgram } from "../work-program.ts";

const FILES = 28;
const SOURCES = `
cd /srv/build
for i in $(seq ${FILES}); do
  { echo '#include <stdio.h>'
    for j in $(seq 350); do
      echo "int f_$i_$j(int x) { int s = x; for (int k = 0; k < x; k++) s += k * $j ^ s; return s; }"
    done | sed "s/f_/f_\${i}_/"
    echo "int part_$i(void) { return $i; }"
  } > part$i.c
done
{ seq -f 'int part_%g(void);' ${FILES}; echo '#include <stdio.h>'
  echo 'int main(void) { int s = 0;'; seq -f 's += part_%g();' ${FILES}
  echo 'printf("%d\\n", s); }'; } > main.c
printf 'all: main.o %s\\n\\tgcc -o all $^\\n%%.o: %%.c\\n\\tgcc -O2 -c $<\\n' \\
  "$(seq -s ' ' -f 'part%g.o' ${FILES})" > Makefile
`;

export const make = workProgram({
  name: "make -j4",
  version: "make --version",
  prepare: async (stage) => void (await stage.run(`mkdir -p /srv/build; ${SOURCES}`)),
  command: "cd /srv/build && make -j4",
  underWay: "pgrep -x make && ls /srv/build/part1.o",
  check: `cd /srv/build && make -q && test "$(./all)" = ${(FILES * (FILES + 1)) / 2}`,
});
