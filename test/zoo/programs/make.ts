import { workProgram } from "../work-program.ts";

const PARTS = 26;
const FUNCTIONS = 120;
/** Each part is compiled when its gate has got a mark, which then stands in the program. */
const SOURCES = `
mkdir -p /srv/build; cd /srv/build; touch marks
for i in $(seq ${PARTS}); do
  mkfifo gate$i
  { for j in $(seq ${FUNCTIONS}); do
      echo "int f_\${i}_$j(int x) { int s = x; for (int k = 0; k < x; k++) s += k * $j ^ s; return s; }"
    done
    echo "const char *part_$i(void) { return MARK; }"
  } > part$i.c
done
{ echo '#include <stdio.h>'; seq -f 'const char *part_%g(void);' ${PARTS}
  echo 'int main(void) {'; seq -f 'puts(part_%g());' ${PARTS}; echo '}'; } > main.c
cat > Makefile << 'END'
PARTS = $(patsubst %,part%.o,$(shell seq ${PARTS}))
all: $(PARTS) main.o
	gcc -o all $^
main.o: main.c
	gcc -O2 -c $<
part%.o: part%.c
	read mark < gate$*; echo $$mark >> marks; gcc -O2 -DMARK="\\"$$mark\\"" -c $<
END
`;
const NEXT = "$(($(wc -l < marks) + 1))";

export const make = workProgram({
  name: "make -j4",
  version: "make --version",
  prepare: async (stage) => void (await stage.run(SOURCES)),
  command: "cd /srv/build && make -j4 > log",
  see: "pgrep -x make && cat /srv/build/marks",
  step: (mark) =>
    `cd /srv/build; echo ${mark} > gate${NEXT}; until grep -qx ${mark} marks; do sleep 0.05; done`,
  end: `cd /srv/build; for i in $(seq ${NEXT} ${PARTS}); do echo end$i > gate$i; done`,
  check: 'cd /srv/build && make -q && test "$(./all | sort)" = "$(sort marks)"',
});
