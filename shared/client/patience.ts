/** The time that one call may spend on pauses. */
export class Patience {
  #left: number;

  /** @param milliseconds all pauses together */
  constructor(milliseconds: number) {
    this.#left = milliseconds;
  }

  /** Takes a pause off what is left. @returns false where that does not suffice, and then nothing is taken */
  spend(milliseconds: number): boolean {
    if (milliseconds > this.#left) return false;
    this.#left -= milliseconds;
    return true;
  }
}
