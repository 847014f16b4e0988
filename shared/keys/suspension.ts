/** A key that is refused too often within a minute is suspended this long, in milliseconds. */
export const SUSPENSION_MS = 5 * 60_000;

/** `suspendedUntil` of a key that is suspended until it is resumed: the last moment that JavaScript has. */
export const UNTIL_RESUMED = 8_640_000_000_000_000;
