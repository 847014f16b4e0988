/** What the paths of API Gateway's API begin with. */
const collections = new Set([
  'account',
  'apikeys',
  'clientcertificates',
  'domainnameaccessassociations',
  'domainnames',
  'rejectdomainnameaccessassociations',
  'restapis',
  'sdktypes',
  'tags',
  'usageplans',
  'vpclinks',
]);

/** Whether a path is one of API Gateway's API, known to the host or not. */
export function isControlPlanePath(path: string): boolean {
  return collections.has(path.split('/', 2)[1] ?? '');
}
