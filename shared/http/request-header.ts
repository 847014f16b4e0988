import type { APIGatewayProxyEvent } from 'aws-lambda';

/** All values of a request header, by its name in any case; empty where it was not sent. */
export function requestHeader({ multiValueHeaders }: APIGatewayProxyEvent, name: string): string[] {
  const found = Object.entries(multiValueHeaders ?? {}).filter(([field]) => field.toLowerCase() === name.toLowerCase());
  return found.flatMap(([, values]) => values ?? []);
}
