import { methodsOf } from '../contract/operations.ts';

/** What the operations at a path take: their methods (RFC 9110 §10.2.1), and the form of a PATCH (RFC 5789 §3.1). */
export function allowedMethods(path: string): Record<string, string> {
  const methods = methodsOf(path);
  return {
    Allow: [...methods, 'OPTIONS'].join(', '),
    ...(methods.includes('PATCH') && { 'Accept-Patch': 'application/json' }),
  };
}
