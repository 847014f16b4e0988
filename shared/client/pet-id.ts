/** A pet's number: a bigint, or a number where that is exact. */
export type PetId = bigint | number;

/** @throws TypeError where the number may not be the one that was meant: above 2^53 a JavaScript number loses digits */
export function checkPetId(petId: PetId): bigint {
  if (typeof petId === 'bigint') return petId;
  if (Number.isSafeInteger(petId)) return BigInt(petId);
  throw new TypeError('petId must be a bigint such as 101n, or a whole number that JavaScript holds exactly');
}
