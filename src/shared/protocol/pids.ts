// Apart from the schemas: the command line has no time to load what checks them.

/** The kernel has no more process ids than these. */
export const PIDS_MAX = 4_194_304;

/** With less, not even init and a shell start. */
export const PIDS_MIN = 8;
