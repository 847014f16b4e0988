import { ArnFormat, RemovalPolicy, Stack } from 'aws-cdk-lib';
import { PolicyStatement, ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import { Key } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';

export interface AlarmTopicProps {
  /** Alarms whose names begin with it may be published. */
  readonly alarmNamePrefix: string;
  readonly emails: readonly string[];
}

/** Where the alarms of one deployment go: encrypted, over TLS, published by its own alarms and nobody else. */
export class AlarmTopic extends Topic {
  constructor(scope: Construct, id: string, { alarmNamePrefix, emails }: AlarmTopicProps) {
    // AWS's own key for SNS does not let CloudWatch publish, and its policy cannot be changed.
    const masterKey = new Key(scope, `${id}Key`, {
      description: 'Encrypts alarms on their way to who is told of them',
      enableKeyRotation: true,
      // Nothing that is kept is encrypted with it.
      removalPolicy: RemovalPolicy.DESTROY,
    });
    super(scope, id, { displayName: 'Pet store inventory alarms', enforceSSL: true, masterKey });

    const stack = Stack.of(this);
    const cloudWatch = new ServicePrincipal('cloudwatch.amazonaws.com');
    const alarms = stack.formatArn({
      service: 'cloudwatch',
      resource: 'alarm',
      resourceName: `${alarmNamePrefix}*`,
      arnFormat: ArnFormat.COLON_RESOURCE_NAME,
    });
    const ownAlarmsOnly = {
      StringEquals: { 'aws:SourceAccount': stack.account },
      ArnLike: { 'aws:SourceArn': alarms },
    };
    this.addToResourcePolicy(
      new PolicyStatement({
        sid: 'AlarmsMayPublish',
        principals: [cloudWatch],
        actions: ['sns:Publish'],
        resources: [this.topicArn],
        conditions: ownAlarmsOnly,
      }),
    );
    masterKey.addToResourcePolicy(
      new PolicyStatement({
        sid: 'AlarmsMayEncrypt',
        principals: [cloudWatch],
        actions: ['kms:Decrypt', 'kms:GenerateDataKey*'],
        resources: ['*'],
        conditions: ownAlarmsOnly,
      }),
    );
    for (const email of emails) this.addSubscription(new EmailSubscription(email));
  }
}
