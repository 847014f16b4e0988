import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { acknowledge, acknowledgeNist } from '../acknowledge.ts';

export interface AlarmTopicProps {
  /** Alarms whose names begin with it may be published. */
  readonly alarmNamePrefix: string;
  readonly emails: readonly string[];
  /** Encrypt with a key of the stack, beside what SNS encrypts its disks with. */
  readonly ownKey: boolean;
}

/** Where the alarms of one deployment go: over TLS, published by its own alarms and nobody else. */
export class AlarmTopic extends Topic {
  constructor(scope: Construct, id: string, { alarmNamePrefix, emails, ownKey }: AlarmTopicProps) {
    const masterKey = ownKey ? keyOf(scope, id) : undefined;
    super(scope, id, { displayName: 'Pet store inventory alarms', enforceSSL: true, ...(masterKey && { masterKey }) });
    const stack = Stack.of(this);
    const principals = [new ServicePrincipal('cloudwatch.amazonaws.com')];
    const alarms = stack.formatArn({
      service: 'cloudwatch',
      resource: 'alarm',
      resourceName: `${alarmNamePrefix}*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const conditions = {
      StringEquals: { 'aws:SourceAccount': stack.account },
      ArnLike: { 'aws:SourceArn': alarms },
    };
    const publish = { actions: ['sns:Publish'], resources: [this.topicArn] };
    this.addToResourcePolicy(new PolicyStatement({ sid: 'AlarmsMayPublish', principals, conditions, ...publish }));
    const encrypt = { actions: ['kms:Decrypt', 'kms:GenerateDataKey*'], resources: ['*'] };
    masterKey?.addToResourcePolicy(
      new PolicyStatement({ sid: 'AlarmsMayEncrypt', principals, conditions, ...encrypt }),
    );
    if (!ownKey) acknowledgeNoKey(this);
    for (const email of emails) this.addSubscription(new EmailSubscription(email));
  }
}

/** AWS's own key for SNS does not let CloudWatch publish, and its policy cannot be changed. */
function keyOf(scope: Construct, id: string): Key {
  return new Key(scope, `${id}Key`, {
    description: 'Encrypts alarms on their way to who is told of them',
    enableKeyRotation: true,
    // Nothing that is kept is encrypted with it.
    removalPolicy: RemovalPolicy.DESTROY,
  });
}

function acknowledgeNoKey(topic: Topic): void {
  const reason =
    'Alarms hold nothing secret and go out as plain e-mail: a key of our own would cost more than it protects.';
  acknowledge(topic, 'SNS2', reason);
  acknowledgeNist(topic, 'SNSEncryptedKMS', reason);
}
