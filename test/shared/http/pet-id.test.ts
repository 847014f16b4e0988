import { describe, expect, test } from '@jest/globals';
import { parsePetId } from '../../../shared/http/pet-id.ts';
import { aProxyEvent } from '../../support/proxy-event.ts';

const eventFor = (petId: string) => aProxyEvent({ resource: '/inventory/{petId}', pathParameters: { petId } });

describe('the path parameter petId (spec §4.2)', () => {
  test.each(['42', '-1', '9223372036854775807', '-9223372036854775808'])('%s is an int64', (petId) => {
    expect(parsePetId(eventFor(petId))).toBe(petId);
  });

  test.each(['abc', '1.5', '042', '+42', '1e3', '9223372036854775808', '%34%32', ' 42', ''])(
    '%j is not, which is a 400',
    (petId) => {
      expect(() => parsePetId(eventFor(petId))).toThrow(
        expect.objectContaining({ code: 'INVALID_PET_ID', status: 400 }),
      );
    },
  );

  test('is a 400 where the path has none', () => {
    expect(() => parsePetId(aProxyEvent())).toThrow(expect.objectContaining({ code: 'INVALID_PET_ID' }));
  });
});
