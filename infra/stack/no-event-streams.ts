/**
 * Stands in for a constructor of the SDK in the bundles. The SDK loads its event stream code for operations that
 * stream events, and DynamoDB has none.
 */
export function EventStreamSerde(): never {
  throw new Error('Event streams are left out of the bundles: no DynamoDB operation uses them');
}
