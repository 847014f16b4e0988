/** Where the metrics of all stages are; each has its stack as a dimension of its own. */
export const METRICS_NAMESPACE = 'PetStoreInventory';
