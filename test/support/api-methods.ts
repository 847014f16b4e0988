import * as v from 'valibot';
import { attribute, ref, resourcesOf, type SynthesizedStage } from './synthesized.ts';

const resourceSchema = v.object({ ParentId: v.union([ref, attribute]), PathPart: v.string() });

const methodSchema = v.looseObject({
  HttpMethod: v.string(),
  ResourceId: v.union([ref, attribute]),
  AuthorizationType: v.string(),
  Integration: v.looseObject({ Type: v.string() }),
});

/** A method of the REST API in a template. */
export interface ApiMethod {
  /** Such as `GET /inventory`. */
  readonly route: string;
  readonly path: string;
  readonly properties: v.InferOutput<typeof methodSchema>;
}

/** All methods of the API. */
export function apiMethods(stage: SynthesizedStage): ApiMethod[] {
  const paths = resourcePaths(stage);
  return resourcesOf(stage, 'AWS::ApiGateway::Method', methodSchema).map(({ properties }) => {
    const path = paths.get(properties.ResourceId) ?? '/';
    return { route: `${properties.HttpMethod} ${path}`, path, properties };
  });
}

/** The paths of all resources of the API but the root, by their logical ids. */
export function resourcePaths(stage: SynthesizedStage): ReadonlyMap<string, string> {
  const resources = new Map(
    resourcesOf(stage, 'AWS::ApiGateway::Resource', resourceSchema).map(({ id, properties }) => [id, properties]),
  );
  const pathOf = (id: string): string => {
    const resource = resources.get(id);
    if (resource) return `${pathOf(resource.ParentId)}/${resource.PathPart}`;
    if (id.endsWith('.RootResourceId')) return '';
    throw new Error(`The template has no API resource ${id}`);
  };
  return new Map([...resources.keys()].map((id) => [id, pathOf(id)]));
}
