/** Dates and numbers in the language of the page, and the region that the browser prefers in it. */
import i18next from 'i18next';
import { useTranslation } from 'react-i18next';

const MINUTE = 60;
const UNITS: [Intl.RelativeTimeFormatUnit, number][] = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', MINUTE],
];
const BYTE_UNITS = ['byte', 'kilobyte', 'megabyte', 'gigabyte', 'terabyte'] as const;

/** Browsers may list what Intl refuses, such as `en-US@posix`. */
function isLocale(tag: string): boolean {
  try {
    return Intl.getCanonicalLocales(tag).length > 0;
  } catch {
    return false;
  }
}

/** Returns the browser's own tag of this language, such as de-AT for de. */
export function chooseLocale(language: string, preferred: readonly string[]): string {
  return preferred.find((tag) => tag.split('-')[0] === language && isLocale(tag)) ?? language;
}

export interface Format {
  locale: string;
  /** What separates the decimals of a number. */
  decimalSeparator: () => string;
  number: (value: number, options?: Intl.NumberFormatOptions) => string;
  percent: (value: number, digits?: number) => string;
  bytes: (value: number) => string;
  date: (value: string | Date) => string;
  /** The day in a time zone that is not the browser's: months of billing are those of UTC. */
  dayIn: (timeZone: string, value: string | Date) => string;
  dateTime: (value: string | Date) => string;
  /** "in 3 hours", "2 days ago". */
  relative: (value: string | Date, now?: Date) => string;
}

function once<Value>(make: () => Value): () => Value {
  let made: Value | undefined;
  return () => (made ??= make());
}

export function createFormat(locale: string): Format {
  // Each takes milliseconds to set up, and few pages need all.
  const relative = once(() => new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }));
  const date = once(() => new Intl.DateTimeFormat(locale, { dateStyle: 'medium' }));
  const dateTime = once(
    () => new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeStyle: 'short' }),
  );
  const plain = once(() => new Intl.NumberFormat(locale));
  const number = (value: number, options?: Intl.NumberFormatOptions) =>
    (options ? new Intl.NumberFormat(locale, options) : plain()).format(value);
  const decimalSeparator = once(
    () =>
      plain()
        .formatToParts(0.5)
        .find(({ type }) => type === 'decimal')?.value ?? '.',
  );
  return {
    locale,
    decimalSeparator,
    number,
    percent: (value, digits = 0) =>
      number(value, { style: 'percent', maximumFractionDigits: digits }),
    bytes(value) {
      const power = value < 1 ? 0 : Math.min(Math.floor(Math.log(value) / Math.log(1000)), 4);
      const unit = BYTE_UNITS[power] ?? 'byte';
      const options = {
        style: 'unit',
        unit,
        unitDisplay: 'short',
        maximumFractionDigits: 1,
      } as const;
      return number(value / 1000 ** power, options);
    },
    date: (value) => date().format(new Date(value)),
    dayIn: (timeZone, value) =>
      new Intl.DateTimeFormat(locale, { dateStyle: 'medium', timeZone }).format(new Date(value)),
    dateTime: (value) => dateTime().format(new Date(value)),
    relative(value, now = new Date()) {
      const seconds = (new Date(value).getTime() - now.getTime()) / 1000;
      const [unit, size] = UNITS.find(([, length]) => Math.abs(seconds) >= length) ?? [
        'minute',
        MINUTE,
      ];
      return relative().format(Math.round(seconds / size), unit);
    },
  };
}

const formats = new Map<string, Format>();

/** One for each language: each cell of a long list asks for it, and Intl is slow to set up. */
function formatOf(language: string): Format {
  const known = formats.get(language);
  if (known) return known;
  const format = createFormat(chooseLocale(language, navigator.languages));
  formats.set(language, format);
  return format;
}

export function useFormat(): Format {
  return formatOf(useTranslation().i18n.language);
}

/** Returns the format of the page outside of components. */
export function currentFormat(): Format {
  return formatOf(i18next.language);
}
