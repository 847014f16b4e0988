import * as v from 'valibot';
import { arnOf, named, noEffect, type ResourceType, text } from './resource-type.ts';

const keySchema = v.array(v.strictObject({ AttributeName: text, KeyType: v.picklist(['HASH', 'RANGE']) }));

/** DynamoDB. */
export const dynamodbTypes = {
  'AWS::DynamoDB::Table': {
    properties: v.strictObject({
      AttributeDefinitions: v.array(
        v.strictObject({ AttributeName: text, AttributeType: v.picklist(['S', 'N', 'B']) }),
      ),
      KeySchema: keySchema,
      GlobalSecondaryIndexes: v.optional(
        v.array(
          v.strictObject({
            IndexName: text,
            KeySchema: keySchema,
            Projection: v.strictObject({ ProjectionType: v.picklist(['ALL', 'KEYS_ONLY']) }),
          }),
        ),
        [],
      ),
      // Takes away what nobody may rely on being there, or being gone.
      TimeToLiveSpecification: noEffect,
      BillingMode: v.literal('PAY_PER_REQUEST'),
      DeletionProtectionEnabled: noEffect,
      PointInTimeRecoverySpecification: noEffect,
      SSESpecification: noEffect,
    }),
    ref: named,
    attributes: { Arn: arnOf('dynamodb', 'table/') },
  },
} as const satisfies Record<string, ResourceType>;
