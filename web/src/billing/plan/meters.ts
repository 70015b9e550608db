import type { Format } from '@/kit/i18n/format';

export const METERS = [
  'members',
  'documents_per_month',
  'stored_bytes',
  'active_schemas',
  'connectors',
  'webhooks',
  'ai_pages_per_month',
] as const;

const GIB = 2 ** 30;

export type Meter = (typeof METERS)[number];

/** Writes a quantity of a meter. */
export function writeQuantity(format: Format, meter: Meter, value: number): string {
  if (meter !== 'stored_bytes') return format.number(value);
  // Plans count storage in GiB.
  if (value > 0 && value % GIB === 0) return `${format.number(value / GIB)} GiB`;
  return format.bytes(value);
}

/** Writes an exact amount of the API, such as "49.00", without going through a binary number. */
export function writeAmount(locale: string, amount: string, currency: string): string {
  const format = new Intl.NumberFormat(locale, {
    style: 'currency',
    currency,
    maximumFractionDigits: 9,
    minimumFractionDigits: amount.split('.')[1]?.length ?? 0,
  });
  return format.format(amount as Intl.StringNumericLiteral);
}

/** Returns how much of a limit is used, in percent; a limit of 0 is used up by anything. */
export function usedShare(used: number, limit: number): number {
  if (limit === 0) return used > 0 ? 100 : 0;
  return Math.min(100, (100 * used) / limit);
}
