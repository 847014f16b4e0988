import type { ParseContext, Parser } from 'dynalite/db/*Parser.js';

/** Cached expressions per parser: the service has about twenty. */
const CACHE_SIZE = 200;

/** Operators that check or compare the values themselves. */
const CHECKS_VALUES = /between|attribute_type/i;

/**
 * Caches what a parser of dynalite makes of an expression. It depends only on the expression's text, its names and the
 * types of its values. Each use gets a copy with its own values, as the engine may change it.
 */
export function cacheParsed(parser: Parser): void {
  const { parse } = parser;
  const cached = new Map<string, { result: object; context: ParseContext; nameOf: Map<object, string> }>();
  parser.parse = (expression, options) => {
    const { attrNames, attrVals = {}, unusedAttrNames, unusedAttrVals } = options.context;
    if (CHECKS_VALUES.test(expression)) return parse(expression, options);
    const types = Object.entries(attrVals).map(([name, value]) => [name, Object.keys(value)[0]]);
    const key = JSON.stringify([expression, attrNames, types]);
    const known = cached.get(key);
    if (known) {
      markUsed(unusedAttrNames, known.context.unusedAttrNames);
      markUsed(unusedAttrVals, known.context.unusedAttrVals);
      return copyOf(known.result, (part) => attrVals[known.nameOf.get(part) ?? '']);
    }
    const context = { ...options.context, unusedAttrNames: { ...attrNames }, unusedAttrVals: { ...attrVals } };
    const result = parse(expression, { context });
    if (typeof result === 'string') return result;
    if (cached.size >= CACHE_SIZE) cached.clear();
    const nameOf = new Map(Object.entries(attrVals).map(([name, value]) => [value, name]));
    cached.set(key, { result, context, nameOf });
    return parser.parse(expression, options);
  };
}

function markUsed(unused: Record<string, unknown>, unusedThen: Readonly<Record<string, unknown>>): void {
  for (const name of Object.keys(unused)) if (!(name in unusedThen)) delete unused[name];
}

/** A deep copy. @param valueFor what replaces a part of it; undefined: a copy of that part */
function copyOf<Part>(part: Part, valueFor: (part: object) => object | undefined): Part;
function copyOf(part: unknown, valueFor: (part: object) => object | undefined): unknown {
  if (typeof part !== 'object' || part === null) return part;
  const value = valueFor(part);
  if (value !== undefined) return value;
  if (Array.isArray(part)) return part.map((each) => copyOf(each, valueFor));
  const copy: Record<string, unknown> = Object.create(null);
  for (const [name, each] of Object.entries(part)) copy[name] = copyOf(each, valueFor);
  return copy;
}
