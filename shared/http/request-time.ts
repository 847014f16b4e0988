interface Timed {
  readonly requestContext: { readonly requestTimeEpoch?: number };
}

/** When the gateway received a request, Unix milliseconds. Emulators may not tell; then it is now. */
export function requestTime({ requestContext: { requestTimeEpoch } }: Timed): number {
  return requestTimeEpoch !== undefined && Number.isFinite(requestTimeEpoch) ? requestTimeEpoch : Date.now();
}
