import { jest } from '@jest/globals';

/** Stops clocks and timers of the suite, but not its sockets and threads, until `jest.useRealTimers`. */
export const stopClock = () => jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
