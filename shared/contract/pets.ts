import * as v from 'valibot';
import { type Int64, int64Schema } from './int64.ts';
import { petStatusSchema, type SchemasOf } from './inventory.ts';
import type { LabelOf, PetOf, PetRecordOf } from './records.ts';

const MAX_NAME = 200;
const MAX_URL = 2_000;
const MAX_LISTED = 50;

const nameSchema = v.pipe(
  v.string('must be text'),
  v.minLength(1, 'must not be empty'),
  v.maxLength(MAX_NAME, `must have at most ${MAX_NAME} characters`),
);

export type Label = LabelOf<Int64>;

export const petCategorySchema = v.strictObject({ id: int64Schema, name: nameSchema } satisfies SchemasOf<Label>);

export const petTagSchema = v.strictObject({ id: int64Schema, name: nameSchema } satisfies SchemasOf<Label>);

export type PetRecord = PetRecordOf<Int64>;

export const petRecordSchema = v.strictObject({
  id: v.pipe(int64Schema, v.description('The petId')),
  category: v.optional(v.pipe(petCategorySchema, v.description('The kind of animal'))),
  name: v.pipe(nameSchema, v.description('Name of the pet')),
  photoUrls: v.pipe(
    v.array(
      v.pipe(
        v.string('must be text'),
        v.url('must be a URL'),
        v.regex(/^https?:[/]{2}/, 'must begin with https:// or http://'),
        v.maxLength(MAX_URL, `must have at most ${MAX_URL} characters`),
      ),
      'must be a list of URLs',
    ),
    v.maxLength(MAX_LISTED, `must have at most ${MAX_LISTED} entries`),
    v.description('Pictures of the pet'),
  ),
  tags: v.optional(
    v.pipe(
      v.array(petTagSchema, 'must be a list of tags'),
      v.maxLength(MAX_LISTED, `must have at most ${MAX_LISTED} entries`),
      v.description('Tags of the pet'),
    ),
  ),
} satisfies SchemasOf<PetRecord>);

export type Pet = PetOf<Int64>;

/** Response of `GET /pets/{petId}`. */
export const petSchema = v.object({
  ...petRecordSchema.entries,
  status: v.optional(v.pipe(petStatusSchema, v.description('Status of the stock entry; absent if there is none'))),
} satisfies SchemasOf<Pet>);
