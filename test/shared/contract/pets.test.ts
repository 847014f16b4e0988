import { describe, expect, test } from '@jest/globals';
import * as fc from 'fast-check';
import * as v from 'valibot';
import { type PetRecord, petRecordSchema, petSchema, petToJson } from '../../../shared/contract/pets.ts';
import { anInt64, int64 } from '../../support/int64.ts';

const URL_OF_PHOTO = 'https://images.example.com/pets/101.jpg';

const pet: PetRecord = {
  id: int64('9223372036854775807'),
  category: { id: int64('-9223372036854775808'), name: 'dogs' },
  name: 'Labrador Retriever',
  photoUrls: [URL_OF_PHOTO],
  tags: [{ id: int64('9007199254740993'), name: 'family' }],
};

const labels = (count: number) => Array.from({ length: count }, (_, index) => ({ id: String(index), name: 'x' }));

describe('a pet (the public Petstore’s record)', () => {
  test.each([
    ['all of its fields', {}],
    ['no category and no tags', { category: undefined, tags: undefined }],
    ['no photos', { photoUrls: [] }],
    ['50 photos and 50 tags', { photoUrls: Array(50).fill(URL_OF_PHOTO), tags: labels(50) }],
    ['a name of 200 characters', { name: 'x'.repeat(200) }],
    ['a URL of 2000 characters', { photoUrls: [`${URL_OF_PHOTO}?`.padEnd(2_000, 'x')] }],
  ])('is taken with %s', (_, difference) => {
    expect(v.is(petRecordSchema, { ...pet, ...difference })).toBe(true);
  });

  test.each([
    ['no id', { id: undefined }],
    ['an id that is a number', { id: 1 }],
    ['an id beyond int64', { id: '9223372036854775808' }],
    ['no name', { name: undefined }],
    ['an empty name', { name: '' }],
    ['a name of 201 characters', { name: 'x'.repeat(201) }],
    ['no photoUrls', { photoUrls: undefined }],
    ['a photo that is no URL', { photoUrls: ['a photo'] }],
    ['a URL of 2001 characters', { photoUrls: [`${URL_OF_PHOTO}?`.padEnd(2_001, 'x')] }],
    ['51 photos', { photoUrls: Array(51).fill(URL_OF_PHOTO) }],
    ['51 tags', { tags: labels(51) }],
    ['a tag without a name', { tags: [{ id: '1' }] }],
    ['a category without an id', { category: { name: 'dogs' } }],
    ['a category with another field', { category: { id: '1', name: 'dogs', colour: 'red' } }],
    ['a status, which the stock entry has', { status: 'sold' }],
  ])('is refused with %s', (_, difference) => {
    expect(v.is(petRecordSchema, { ...pet, ...difference })).toBe(false);
  });

  test('as it is answered may have a status', () => {
    expect(v.is(petSchema, { ...pet, status: 'sold' })).toBe(true);
    expect(v.is(petSchema, { ...pet, status: 'placed' })).toBe(false);
  });
});

describe('the JSON of a pet', () => {
  test('has its fields with every digit of the ids', () => {
    expect(petToJson(pet, 'pending')).toBe(
      '{"id":9223372036854775807,"category":{"id":-9223372036854775808,"name":"dogs"},"name":"Labrador Retriever",' +
        `"photoUrls":["${URL_OF_PHOTO}"],"tags":[{"id":9007199254740993,"name":"family"}],"status":"pending"}`,
    );
  });

  test('has neither category nor tags nor status where there are none', () => {
    expect(petToJson({ id: int64('1'), name: 'x', photoUrls: [] }, undefined)).toBe(
      '{"id":1,"name":"x","photoUrls":[]}',
    );
  });

  test('escapes what is in its names', () => {
    const name = '"quoted"\n</script> 犬';

    expect(JSON.parse(petToJson({ ...pet, name }, 'sold'))).toMatchObject({ name });
  });

  test('keeps the digits of any id', () => {
    fc.assert(
      fc.property(anInt64(), (id) => {
        expect(petToJson({ ...pet, id }, 'sold')).toMatch(`{"id":${id},"category"`);
      }),
    );
  });
});
