/** Metadata as rows of inputs. A value keeps its type as long as its text still is of this type. */
import { currentFormat } from '@/kit/i18n/format';

export type MetadataValue = string | number | boolean;

export interface Pair {
  key: string;
  value: string;
  type: 'string' | 'number' | 'boolean';
}

export function toPairs(metadata: Record<string, unknown>): Pair[] {
  return Object.entries(metadata).map(
    ([key, value]) =>
      ({
        key,
        value: String(value),
        type: typeof value === 'number' || typeof value === 'boolean' ? typeof value : 'string',
      }) as Pair,
  );
}

function toValue({ value, type }: Pair, decimalSeparator: string): MetadataValue {
  const number = value.replace(decimalSeparator, '.');
  if (type === 'number' && number.trim() !== '' && Number.isFinite(Number(number)))
    return Number(number);
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true';
  return value;
}

/** Numbers may be typed with the decimal separator of the page. */
export function fromPairs(
  pairs: readonly Pair[],
  decimalSeparator = currentFormat().decimalSeparator(),
): Record<string, MetadataValue> {
  const kept = pairs.filter(({ key }) => key.trim() !== '');
  return Object.fromEntries(kept.map((pair) => [pair.key.trim(), toValue(pair, decimalSeparator)]));
}
