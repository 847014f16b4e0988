import * as v from 'valibot';
import { arn } from '../../local-endpoint.ts';

/** A property that changes nothing on a laptop: what it sets up is AWS's own business. */
export const noEffect = v.optional(v.unknown());

export const text = v.string();
export const texts = v.record(v.string(), v.string());

/** What the local host knows of a resource type. A property that is not listed here stops the host at start. */
export interface ResourceType<Properties extends v.GenericSchema = v.GenericSchema> {
  readonly properties: Properties;
  /** What `Ref` gives; by default the logical id. */
  readonly ref?: (stack: string, logicalId: string, properties: unknown) => string;
  readonly attributes?: Readonly<Record<string, (stack: string, logicalId: string) => string>>;
}

export const named = (stack: string, logicalId: string): string => `${stack}-${logicalId}`;

export const arnOf =
  (service: string, kind: string) =>
  (stack: string, logicalId: string): string =>
    arn(service, `${kind}${named(stack, logicalId)}`);
