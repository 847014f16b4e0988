import { ENTRY_TAG, isInt64, MAX_QUANTITY } from '../contract/records.ts';
import type { InventoryClientOptions, UpdateOptions } from './client-options.ts';
import type { InventoryUpdateRow, PetId } from './inventory-client.ts';

type Checked = InventoryClientOptions & UpdateOptions & InventoryUpdateRow;
type Name = keyof Omit<Checked, 'petId' | 'fetch' | 'signal'>;
type Rule = readonly [text: string, isValid: (value: unknown) => boolean];

const like = (pattern: RegExp) => (value: unknown) => typeof value === 'string' && pattern.test(value);
const integer = (min: number, max = Infinity): Rule => [
  `an integer from ${min} to ${max}`,
  (value) => (Number.isInteger(value) || value === Infinity) && Number(value) >= min && Number(value) <= max,
];

/** Of values that the service does not see, or that must not reach it, such as an undefined condition. */
const rules: Readonly<Record<Name, Rule>> = {
  baseUrl: [
    'a URL such as https://example.com/v1, without user, query and fragment',
    (url) => /^https?:\/\/[^\s?#@]+$/.test(String(url)) && URL.canParse(String(url)),
  ],
  apiKey: ['visible ASCII characters, without spaces', like(/^[\x21-\x7e]+$/)],
  // The longest timer of Node.js.
  timeout: integer(1, 2 ** 31 - 1),
  concurrency: integer(1),
  maxRetries: integer(0),
  maxQueueTime: integer(0),
  maxWait: integer(0),
  retryDelay: integer(1),
  idempotencyKey: ['1 to 255 visible ASCII characters', like(/^[\x21-\x7e]{1,255}$/)],
  ifMatch: ['the ETag of an entry, such as "mX0aVbq3Zk1T" with its quotes', like(ENTRY_TAG)],
  ifQuantity: integer(0, MAX_QUANTITY),
  quantity: integer(0, MAX_QUANTITY),
};

/** @throws TypeError with name, rule and value, but without a key, or the user and password of a URL */
export function check(
  values: { readonly [name in Name]?: unknown },
  required: readonly string[] = [],
  where = '',
): void {
  for (const [name, [text, isValid]] of Object.entries(rules)) {
    const value: unknown = Object(values)[name];
    if (value === undefined ? !required.includes(name) : isValid(value)) continue;
    const shown = typeof value === 'string' ? JSON.stringify(value.replace(/\/\/.*@/, '//…@')) : String(value);
    throw new TypeError(`${where}${name} must be ${text}${name === 'apiKey' ? '' : `, not ${shown}`}`);
  }
}

/** A row with its exact petId. @throws TypeError with the number of a row that the service would refuse */
export function checkedRow<Row extends InventoryUpdateRow>(row: Row, index: number): Row & { readonly petId: bigint } {
  const where = `Row ${index + 1}: `;
  const unknown = Object.keys(row).find((name) => !['petId', 'quantity', 'ifMatch', 'ifQuantity'].includes(name));
  if (unknown !== undefined) throw new TypeError(`${where}${unknown} is no field of an update`);
  check(row, ['quantity', ...Object.keys(row)], where);
  return { ...row, petId: exactPetId(row.petId, where) };
}

/** @throws TypeError for a number above 2^53, which may have lost digits, and a bigint of more than 64 bits */
export function exactPetId(petId: PetId, where = ''): bigint {
  if (Number.isSafeInteger(petId) || (typeof petId === 'bigint' && isInt64(String(petId)))) return BigInt(petId);
  throw new TypeError(`${where}petId must be a bigint of 64 bits such as 101n, or a safe integer, not ${petId}`);
}
