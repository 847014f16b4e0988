import { describe, expect, test } from '@jest/globals';
import { errorGuide } from '../../../shared/contract/error-guide.ts';
import { errorCatalogue } from '../../../shared/contract/errors.ts';

describe('the error guide', () => {
  test('has an entry for each code of the catalogue, in its order', () => {
    expect(Object.keys(errorGuide)).toEqual(Object.keys(errorCatalogue));
  });

  test.each(Object.entries(errorGuide))('says of %s in sentences when it comes and what to do', (_, advice) => {
    expect(advice.cause).toMatch(/^[A-Z].*\.$/);
    expect(advice.remedy).toMatch(/^[A-Z].*\.$/);
  });
});
