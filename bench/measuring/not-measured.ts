/** Says why something cannot be measured on this machine; it is printed, and the run goes on. */
export class NotMeasured extends Error {}
