import type { SQSEvent } from 'aws-lambda';
import { account } from '../template/account.ts';
import type { ReceivedMessage } from './sqs-queue.ts';

/** The event that Lambda makes of a batch of messages (developer guide, "Using Lambda with Amazon SQS"). */
export function sqsEvent(queueArn: string, messages: readonly ReceivedMessage[]): SQSEvent {
  return {
    Records: messages.map(({ messageId, receiptHandle, body, md5OfBody, sentAt, firstReceivedAt, receiveCount }) => ({
      messageId,
      receiptHandle,
      body,
      attributes: {
        ApproximateReceiveCount: String(receiveCount),
        SentTimestamp: String(sentAt),
        SenderId: account.id,
        ApproximateFirstReceiveTimestamp: String(firstReceivedAt),
      },
      messageAttributes: {},
      md5OfBody,
      eventSource: 'aws:sqs',
      eventSourceARN: queueArn,
      awsRegion: account.region,
    })),
  };
}
