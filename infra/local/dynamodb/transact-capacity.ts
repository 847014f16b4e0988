/** What an action of a transaction has written or checked, in begun kilobytes. */
export interface Used {
  readonly table: string;
  readonly kilobytes: number;
}

/** Every item of a transaction is prepared and then committed. */
const UNITS_PER_KILOBYTE = 2;
const KILOBYTES_PER_READ_UNIT = 4;

/**
 * The answer's account of the capacity.
 *
 * @param kind a request that is repeated reads what it has written before
 * @param detail as ReturnConsumedCapacity asks for it
 */
export function consumedCapacity(
  used: readonly Used[],
  kind: 'Write' | 'Read',
  detail: 'NONE' | 'TOTAL' | 'INDEXES',
): object {
  if (detail === 'NONE') return {};
  const ofTables = new Map<string, number>();
  for (const { table, kilobytes } of used) {
    const amount = kind === 'Write' ? kilobytes : Math.ceil(kilobytes / KILOBYTES_PER_READ_UNIT);
    ofTables.set(table, (ofTables.get(table) ?? 0) + amount * UNITS_PER_KILOBYTE);
  }
  const ConsumedCapacity = [...ofTables].map(([TableName, CapacityUnits]) => ({
    TableName,
    CapacityUnits,
    [`${kind}CapacityUnits`]: CapacityUnits,
    Table: detail === 'INDEXES' ? { CapacityUnits, [`${kind}CapacityUnits`]: CapacityUnits } : undefined,
  }));
  return { ConsumedCapacity };
}
