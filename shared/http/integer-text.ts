const NUMBER = /^-?(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/;

/**
 * Whether a JSON number is an integer as it is written, such as `5`, `5.0` or `1e2`, and not by the rounding of
 * JavaScript's numbers only, such as `1e-400`.
 */
export function isIntegerText(text: string): boolean {
  const [, whole = '', fraction = '', exponent = '0'] = NUMBER.exec(text) ?? [];
  const digits = whole + fraction;
  const significant = digits.replace(/0+$/, '');
  return significant === '' || digits.length - significant.length >= fraction.length - Number(exponent);
}
