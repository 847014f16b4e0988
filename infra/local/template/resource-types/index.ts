import type * as v from 'valibot';
import { apiGatewayTypes } from './api-gateway.ts';
import { dynamodbTypes } from './dynamodb.ts';
import { eventTypes } from './events.ts';
import { lambdaTypes } from './lambda.ts';
import { surroundingTypes } from './surroundings.ts';

/** All that the local host knows. */
export const resourceTypes = {
  ...apiGatewayTypes,
  ...dynamodbTypes,
  ...eventTypes,
  ...lambdaTypes,
  ...surroundingTypes,
};

export type KnownType = keyof typeof resourceTypes;
export type PropertiesOf<Type extends KnownType> = v.InferOutput<(typeof resourceTypes)[Type]['properties']>;
