import type * as v from 'valibot';
import { apiGatewayTypes } from './api-gateway.ts';
import { dynamodbTypes } from './dynamodb.ts';
import { eventTypes } from './events.ts';
import { lambdaTypes } from './lambda.ts';

/**
 * What begins so, the local host stands in for, and has to know. Of anything else - permissions, alarms, logs, names - it
 * reads nothing.
 */
export const servedServices = ['AWS::ApiGateway', 'AWS::DynamoDB::', 'AWS::Events::', 'AWS::Lambda::', 'AWS::SQS::'];

/** What belongs to a served service and does nothing on a laptop. */
export const typesWithoutEffect: ReadonlySet<string> = new Set([
  'AWS::ApiGateway::Account',
  'AWS::ApiGateway::BasePathMapping',
  'AWS::ApiGateway::Deployment',
  // A name of one's own leads to nothing here.
  'AWS::ApiGateway::DomainName',
  'AWS::Lambda::Permission',
  'AWS::SQS::QueuePolicy',
]);

/** All that the local host serves. */
export const resourceTypes = {
  ...apiGatewayTypes,
  ...dynamodbTypes,
  ...eventTypes,
  ...lambdaTypes,
};

export type KnownType = keyof typeof resourceTypes;
export type PropertiesOf<Type extends KnownType> = v.InferOutput<(typeof resourceTypes)[Type]['properties']>;
