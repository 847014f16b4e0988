import type { BusEvent } from '../events/event-bus.ts';
import { account } from '../template/account.ts';
import type { Call, Operation } from './operation.ts';

/** The event by which CloudTrail tells EventBridge of a call. A key's value is never in it. */
export function apiCallEvent({ name }: Operation, { parameters, query, body }: Call): BusEvent {
  const tagKeys = query.texts('tagKeys');
  return {
    source: 'aws.apigateway',
    detailType: 'AWS API Call via CloudTrail',
    detail: {
      eventVersion: '1.08',
      eventSource: 'apigateway.amazonaws.com',
      eventName: name,
      eventTime: `${new Date().toISOString().slice(0, 19)}Z`,
      awsRegion: account.region,
      readOnly: false,
      requestParameters: {
        ...parameters,
        ...(tagKeys.length > 0 && { tagKeys }),
        [`${name.charAt(0).toLowerCase()}${name.slice(1)}Input`]: withoutValue(body),
      },
    },
  };
}

function withoutValue(body: unknown): unknown {
  if (typeof body !== 'object' || body === null) return body;
  return Object.fromEntries(Object.entries(body).filter(([member]) => member !== 'value'));
}
