/* Where a run of CRIU goes before it begins: a network namespace and control groups. */
#pragma once

#define EXIT_CODE_FAILED 1
#define EXIT_CODE_NO_PROGRAM 127

/*
 * Goes where `words` from 1 on say, "--net FILE" and "--group CGROUP_PROCS" up to "--", and returns the index of the
 * word behind that: there is one. Says on standard error what fails, and returns -EXIT_CODE_FAILED.
 */
int enter_places(int count, char **words);
