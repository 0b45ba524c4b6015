/* Returns what was read ahead of the smaps of the process that has this directory below /proc; -1: nothing. */
int open_smaps(int directory);
