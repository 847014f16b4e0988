import * as v from 'valibot';
import type { EditableTemplate } from './service-template.ts';

const integrationSchema = v.looseObject({ Type: v.string() });

/** Changes a template: every function has so many milliseconds to answer the gateway. */
export function withTimeout(milliseconds: number): (template: EditableTemplate) => void {
  return ({ Resources }) => {
    for (const { Type, Properties } of Object.values(Resources)) {
      if (Type !== 'AWS::ApiGateway::Method') continue;
      const integration = v.parse(integrationSchema, Properties.Integration);
      if (integration.Type === 'AWS_PROXY') {
        Properties.Integration = { ...integration, TimeoutInMillis: milliseconds };
      }
    }
  };
}
