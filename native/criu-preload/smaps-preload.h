/* Returns what the smaps of the process say that has this directory below /proc, told or read ahead; -1: nothing. */
int open_smaps(int directory);
