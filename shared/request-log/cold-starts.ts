let untold = 1;

/** Execution environments that the request at hand is the first one of: 1 on the first call, then 0. */
export function takeColdStarts(): number {
  const coldStarts = untold;
  untold = 0;
  return coldStarts;
}
