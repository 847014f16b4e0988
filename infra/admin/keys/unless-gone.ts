import { NotFoundException } from '@aws-sdk/client-api-gateway';

/** Makes a call to API Gateway about something that may be gone. @returns its answer; undefined where it is gone */
export async function unlessGone<Answer>(call: Promise<Answer>): Promise<Answer | undefined> {
  try {
    return await call;
  } catch (error) {
    if (error instanceof NotFoundException) return undefined;
    throw error;
  }
}
