import { openApiDocument, openApiJson, type Environment } from './document.ts';
import { indexHtml } from './index-html.ts';
import { withOptionalParametersOff } from './optional-parameters.ts';
import { pageAssets } from './page-assets.ts';
import { contentTypeOf, type PageFile, type PageFiles } from './page-file.ts';

export interface PageOptions {
  /** Base address of the service, which ends in its version. It may be a token of the CDK. */
  readonly serverUrl: string;
  readonly environment: Environment;
  /** A key that everybody may know: it is filled in for the reader, and stands in the examples. */
  readonly demoKey?: string;
}

const TITLE = 'Pet Store Inventory Service: API reference';
const DESCRIPTION =
  'How to list and set the stock of a pet store over HTTP: a guide to keys, limits and errors, every operation, and a try-it.';

/**
 * The files of the reference page: `index.html`, `openapi.json`, and the assets that they lead to. Each is made or read
 * when it is wanted.
 */
export function pageFiles({ serverUrl, environment, demoKey }: PageOptions): PageFiles {
  const { folder, files } = pageAssets();
  const html = (): string => indexHtml({ assets: folder, serverUrl, title: TITLE, description: DESCRIPTION, demoKey });
  const document = (): string => {
    const key = demoKey === undefined ? {} : { exampleKey: demoKey };
    return openApiJson(withOptionalParametersOff(openApiDocument({ serverUrl, environment, ...key })));
  };
  return new Map([rendered('index.html', html), rendered('openapi.json', document), ...files]);
}

function rendered(path: string, render: () => string): [string, PageFile] {
  return [path, { contentType: contentTypeOf(path), immutable: false, read: () => Buffer.from(render()) }];
}
