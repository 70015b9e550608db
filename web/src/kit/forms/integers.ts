/** A separator before exactly three digits separates thousands. */
const GROUPED = /^-?[1-9]\d{0,2}\.\d{3}$/;

/**
 * Returns the number that was typed into an input for integers: `1.000` and `1,000` are a thousand. `12,5` stays
 * 12.5, so that the service refuses it: without the separator it would be 125. Returns undefined for a lone sign.
 */
export function readInteger(typed: string | number): number | '' | undefined {
  const text = String(typed);
  if (text === '') return '';
  const value = Number(GROUPED.test(text) ? text.replace('.', '') : text);
  return Number.isNaN(value) ? undefined : value;
}
