/**
 * contacts owns whom sessions talked to: how much, between which checkpoints, and by which names.
 * It counts nothing itself and knows no machine.
 */
export {
  addCounted,
  type Contact,
  type ContactJournal,
  type Counted,
  isNothing,
  keepLargest,
  type NamedAddresses,
  NOTHING_COUNTED,
  subtractCounted,
} from "./contact.ts";
