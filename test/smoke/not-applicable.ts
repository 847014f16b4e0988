/** A check that cannot be made here, such as an update in a store without pets. */
export class NotApplicable extends Error {
  override readonly name = 'NotApplicable';
}
