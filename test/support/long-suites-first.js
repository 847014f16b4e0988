import Sequencer from '@jest/test-sequencer';

/** Folders whose suites take long, the longest first; before them some that do not wait for the synthesized service. */
const LONG = [
  '/test/model/',
  '/test/shared/stores/',
  '/test/shared/client/',
  '/test/infra/deploy/',
  '/test/bench/',
  '/test/end-to-end/',
];

/** Starts long suites first. Jest itself knows of them from its last run: in a fresh clone they would run by size. */
export default class LongSuitesFirst extends Sequencer {
  async sort(tests) {
    // oxlint-disable-next-line unicorn/no-array-sort -- the sequencer's own
    const sorted = await super.sort(tests);
    const isOf = (folder) => sorted.filter(({ path }) => path.includes(folder));
    return [...new Set([...LONG.flatMap(isOf), ...sorted])];
  }
}
