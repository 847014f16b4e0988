import { describe, expect, test } from '@jest/globals';
import { samplePets, sampleStock } from '../../../../infra/local/sample-data/shelves.ts';
import { petStatuses } from '../../../../shared/contract/inventory.ts';

describe('the sample stock', () => {
  test('is a few dozen pets', () => {
    expect(sampleStock.length).toBeGreaterThanOrEqual(24);
    expect(sampleStock.length).toBeLessThan(100);
  });

  test('has each pet once, in ascending petId', () => {
    const petIds = sampleStock.map(({ petId }) => Number(petId));

    expect(new Set(petIds).size).toBe(petIds.length);
    expect(petIds).toEqual(petIds.toSorted((a, b) => a - b));
  });

  test.each(petStatuses)('has several pets that are %s', (status) => {
    expect(sampleStock.filter((entry) => entry.status === status).length).toBeGreaterThan(3);
  });

  test('has none left of what is sold', () => {
    expect(sampleStock.filter(({ status, quantity }) => status === 'sold' && quantity > 0)).toEqual([]);
  });

  test('has a pet with number 101, as the examples in the docs do', () => {
    expect(sampleStock[0]).toEqual({ petId: '101', quantity: 4, status: 'available' });
  });
});

describe('the sample pets', () => {
  test('are those in stock', () => {
    expect(samplePets.map(({ id }) => id)).toEqual(sampleStock.map(({ petId }) => petId));
  });

  test('have a name, a category and tags each', () => {
    expect(samplePets[0]).toEqual({
      id: '101',
      category: { id: '1', name: 'dogs' },
      name: 'Labrador Retriever',
      photoUrls: ['https://images.example.com/pets/101.jpg'],
      tags: [
        { id: '1', name: 'family' },
        { id: '2', name: 'large' },
      ],
    });
    expect(samplePets.filter(({ category, tags }) => !category || !tags || tags.length === 0)).toEqual([]);
  });

  test('have names of their own', () => {
    expect(new Set(samplePets.map(({ name }) => name)).size).toBe(samplePets.length);
  });

  test.each([
    ['category', samplePets.flatMap(({ category }) => category ?? [])],
    ['tag', samplePets.flatMap(({ tags }) => tags ?? [])],
  ])('have one id for one %s', (_, labels) => {
    const pairs = new Set(labels.map(({ id, name }) => `${id} ${name}`)).size;

    expect(new Set(labels.map(({ id }) => id)).size).toBe(pairs);
    expect(new Set(labels.map(({ name }) => name)).size).toBe(pairs);
  });
});
