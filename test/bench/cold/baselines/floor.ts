import { createHash, createHmac } from 'node:crypto';
import { Agent, request } from 'node:https';

/** The least that a call of DynamoDB takes: a signature by hand (AWS Signature Version 4), and a request. */
const agent = new Agent({ keepAlive: true });
const { AWS_ENDPOINT_URL_DYNAMODB = '', AWS_REGION = '', AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY } = process.env;
const { host, hostname, port, pathname } = new URL(AWS_ENDPOINT_URL_DYNAMODB);

const hmac = (key: string | Buffer, text: string) => createHmac('sha256', key).update(text).digest();
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

function call(action: string, input: object): Promise<void> {
  const body = JSON.stringify({ TableName: process.env['STOCK_TABLE'], ...input });
  const time = new Date().toISOString().replaceAll(/[:-]|\.\d{3}/g, '');
  const scope = [time.slice(0, 8), AWS_REGION, 'dynamodb', 'aws4_request'];
  const headers = { host, 'x-amz-date': time, 'x-amz-target': `DynamoDB_20120810.${action}` };
  const names = Object.keys(headers).join(';');
  const lines = Object.entries(headers).map(([name, value]) => `${name}:${value}\n`);
  const canonical = ['POST', pathname, '', lines.join(''), names, sha256(body)].join('\n');
  const toSign = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(canonical)].join('\n');
  const key = scope.reduce<string | Buffer>(hmac, `AWS4${AWS_SECRET_ACCESS_KEY}`);
  const signature = hmac(key, toSign).toString('hex');
  const authorization = `AWS4-HMAC-SHA256 Credential=${AWS_ACCESS_KEY_ID}/${scope.join('/')}, SignedHeaders=${names}, Signature=${signature}`;
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const sent = { ...headers, authorization, 'content-type': 'application/x-amz-json-1.0' };
  request({ agent, hostname, port, path: pathname, method: 'POST', headers: sent }, (response) => {
    if (response.statusCode === 200) response.resume().on('end', resolve);
    else reject(new Error(`The engine answered ${response.statusCode}`));
  })
    .on('error', reject)
    .end(body);
  return promise;
}

const Key = { storeId: { S: 'main' }, petId: { N: '1' } };

export const initialise = () => call('GetItem', { Key });

export async function handler() {
  const ExpressionAttributeValues = { ':quantity': { N: '5' } };
  await call('UpdateItem', { Key, UpdateExpression: 'SET quantity = :quantity', ExpressionAttributeValues });
  return { statusCode: 200 };
}
