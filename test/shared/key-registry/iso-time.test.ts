import { describe, expect, test } from '@jest/globals';
import { isoTime } from '../../../shared/key-registry/iso-time.ts';

describe('an ISO 8601 text', () => {
  test.each([
    ['2031-02-03', '2031-02-03T00:00:00.000Z'],
    ['2031-12-31', '2031-12-31T00:00:00.000Z'],
    ['2032-02-29', '2032-02-29T00:00:00.000Z'],
    ['1970-01-01', '1970-01-01T00:00:00.000Z'],
    ['1969-12-31', '1969-12-31T00:00:00.000Z'],
    ['9999-12-31', '9999-12-31T00:00:00.000Z'],
    ['2031-02-03T04:05Z', '2031-02-03T04:05:00.000Z'],
    ['2031-02-03T04:05:06Z', '2031-02-03T04:05:06.000Z'],
    ['2031-02-03T04:05:06.7Z', '2031-02-03T04:05:06.700Z'],
    ['2031-02-03T04:05:06.78Z', '2031-02-03T04:05:06.780Z'],
    ['2031-02-03T04:05:06.789Z', '2031-02-03T04:05:06.789Z'],
    ['2031-02-03T04:05:06+01:00', '2031-02-03T03:05:06.000Z'],
    ['2031-02-03T00:30+05:45', '2031-02-02T18:45:00.000Z'],
    ['2031-12-31T23:30:00-01:00', '2032-01-01T00:30:00.000Z'],
    ['2031-02-03T04:05:06+00:00', '2031-02-03T04:05:06.000Z'],
    ['2031-02-03T24:00:00Z', '2031-02-04T00:00:00.000Z'],
  ])('%s is %s', (text, time) => {
    expect(isoTime(text)).toBe(Date.parse(time));
  });

  test('is the same time as the Date that wrote it', () => {
    const now = Date.now();

    expect(isoTime(new Date(now).toISOString())).toBe(now);
  });
});

describe('no ISO 8601 text that means the same everywhere', () => {
  test.each([
    ['nothing', ''],
    ['a word', 'tomorrow'],
    ['what Date takes for a year', '2031'],
    ['a month', '2031-02'],
    ['Unix seconds', '1927339506'],
    ['a time without a zone', '2031-02-03T04:05:06'],
    ['a time without a date', '04:05:06Z'],
    ['a zone without a time', '2031-02-03Z'],
    ['an hour alone', '2031-02-03T04Z'],
    ['a space for the T', '2031-02-03 04:05:06Z'],
    ['a small t', '2031-02-03t04:05:06Z'],
    ['a small z', '2031-02-03T04:05:06z'],
    ['a zone without a colon', '2031-02-03T04:05:06+0100'],
    ['a zone of hours alone', '2031-02-03T04:05:06+01'],
    ['the name of a zone', '2031-02-03T04:05:06 CET'],
    ['four digits of a second', '2031-02-03T04:05:06.7890Z'],
    ['a comma in the second', '2031-02-03T04:05:06,7Z'],
    ['a point with nothing after it', '2031-02-03T04:05:06.Z'],
    ['American order', '02/03/2031'],
    ['European order', '03.02.2031'],
    ['no hyphens', '20310203'],
    ['a week', '2031-W06-1'],
    ['a day of the year', '2031-034'],
    ['one digit of a month', '2031-2-03'],
    ['a year of six digits', '+002031-02-03'],
    ['a negative year', '-002031-02-03'],
    ['a space before', ' 2031-02-03'],
    ['a space after', '2031-02-03 '],
    ['a line end', '2031-02-03\n'],
    ['other digits', '２０３１-02-03'],
    ['an interval', '2031-02-03/2031-02-04'],
    ['month 0', '2031-00-03'],
    ['month 13', '2031-13-03'],
    ['day 0', '2031-02-00'],
    ['day 32', '2031-01-32'],
    ['the 29th of February in a year that has none', '2031-02-29'],
    ['the 29th of February of 2100', '2100-02-29'],
    ['the 30th of February', '2032-02-30'],
    ['the 31st of April', '2031-04-31'],
    ['the 30th of February, with a time', '2031-02-30T04:05:06Z'],
    ['hour 24 with minutes', '2031-02-03T24:01:00Z'],
    ['hour 25', '2031-02-03T25:00:00Z'],
    ['minute 60', '2031-02-03T04:60:00Z'],
    ['second 60', '2031-02-03T04:05:60Z'],
    ['a zone of 24 hours', '2031-02-03T04:05:06+24:00'],
    ['a zone of 60 minutes', '2031-02-03T04:05:06+01:60'],
  ])('%s is none: %j', (_, text) => {
    expect(isoTime(text)).toBeNaN();
  });
});
