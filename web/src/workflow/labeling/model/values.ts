/** Values and texts: what an input shows, what a person reads, and what is sent to be converted. */
import type { Format } from '@/kit/i18n/format';
import type { Column, Evidence, Field, LocalTag } from './tags';

type AnyField = Field | Column;

function isMoney(value: unknown): value is { amount: string; currency: string } {
  return typeof value === 'object' && value !== null && 'amount' in value && 'currency' in value;
}

/** The text of an input that holds the value; the API converts the same text to the same value. */
export function toText(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value;
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (isMoney(value)) return `${value.amount} ${value.currency}`;
  if (typeof value !== 'object') return '';
  // An address, part by part.
  return Object.values(value)
    .filter((part) => typeof part === 'string')
    .join(', ');
}

function formatMoney(value: { amount: string; currency: string }, format: Format): string {
  const decimals = value.amount.split('.')[1]?.length ?? 0;
  return format.number(Number(value.amount), {
    style: 'currency',
    currency: value.currency,
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
}

/** Not every text like 2026-13-45 is a day; what is being typed may be anything. */
function isDay(text: string): boolean {
  const day = new Date(`${text}T00:00Z`);
  return !isNaN(day.getTime()) && day.toISOString().slice(0, 10) === text;
}

/**
 * Returns how a person reads the canonical value, if that says more than the input does: a date with
 * the name of its month, an amount with its separators, a country with its name.
 */
export function describeValue(value: unknown, field: AnyField, format: Format): string | undefined {
  if (value === null || value === undefined || value === '') return undefined;
  if (field.type === 'money' && isMoney(value))
    return Math.abs(Number(value.amount)) < 1000 ? undefined : formatMoney(value, format);
  if (field.type === 'date' && typeof value === 'string' && isDay(value)) {
    const options = {
      weekday: 'short',
      day: 'numeric',
      month: 'long',
      year: 'numeric',
      timeZone: 'UTC',
    } as const;
    return new Intl.DateTimeFormat(format.locale, options).format(new Date(`${value}T00:00Z`));
  }
  if (field.type === 'datetime' && typeof value === 'string' && !isNaN(Date.parse(value)))
    return format.dateTime(value);
  if (field.type === 'country' && typeof value === 'string' && /^[A-Z]{2}$/.test(value))
    return new Intl.DisplayNames([format.locale], { type: 'region' }).of(value);
  if (field.type === 'currency' && typeof value === 'string' && /^[A-Z]{3}$/.test(value))
    return new Intl.DisplayNames([format.locale], { type: 'currency' }).of(value);
  if (field.type === 'number' && typeof value === 'number' && Math.abs(value) >= 1000)
    return format.number(value, { maximumFractionDigits: 12 });
  return undefined;
}

/** One short text for comparisons and lists. */
export function summarize(tag: Pick<LocalTag, 'value' | 'evidence'>, field?: AnyField): string {
  if (field?.type === 'choice')
    return field.options.find((one) => one.value === tag.value)?.label ?? toText(tag.value);
  const text = toText(tag.value);
  return text === '' ? describePlace(tag.evidence) : text;
}

function describePlace(evidence: readonly Evidence[]): string {
  const piece = evidence.find((one) => one.box !== null);
  return piece ? `▭ ${piece.page ?? ''}` : '';
}

const HAS_CURRENCY = /\p{Sc}|\p{L}/u;

/**
 * Adds the currency of the document to an amount that names none, because an amount without a
 * currency is no value. The document's currency is that of its currency fields, else of its amounts.
 */
export function addCurrency(
  text: string,
  tags: readonly LocalTag[],
  fields: readonly Field[],
): string {
  if (text.trim() === '' || HAS_CURRENCY.test(text)) return text;
  const currency = findCurrency(tags, fields);
  return currency === undefined ? text : `${text.trim()} ${currency}`;
}

/** The currency of an amount, also of one that was typed and not converted yet. */
function codeOf(value: unknown): string | undefined {
  if (isMoney(value)) return value.currency;
  return typeof value === 'string' ? /\b[A-Z]{3}\b/.exec(value)?.[0] : undefined;
}

function findCurrency(tags: readonly LocalTag[], fields: readonly Field[]): string | undefined {
  const names = new Set(fields.filter((one) => one.type === 'currency').map((one) => one.key));
  const named = tags.find((tag) => names.has(tag.field) && typeof tag.value === 'string');
  if (named) return named.value as string;
  const money = new Set(
    fields.flatMap((one) => [
      ...(one.type === 'money' ? [one.key] : []),
      ...one.columns
        .filter((column) => column.type === 'money')
        .map((column) => `${one.key}.${column.key}`),
    ]),
  );
  const amounts = new Set(
    tags.flatMap(({ field, value }) => (money.has(field) ? (codeOf(value) ?? []) : [])),
  );
  return amounts.size === 1 ? [...amounts][0] : undefined;
}

/** The option that a text of the document means, by its value or label. */
export function matchOption(text: string, field: AnyField): string | undefined {
  const wanted = text.trim().toLocaleLowerCase();
  return field.options.find(
    (one) => one.value.toLocaleLowerCase() === wanted || one.label.toLocaleLowerCase() === wanted,
  )?.value;
}
