/** Reads the state of a list from the address: what is not understood is left out. */

type Search = Record<string, unknown>;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function readText(search: Search, key: string): string | undefined {
  const value = search[key];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

export function readChoice<Choice extends string>(
  search: Search,
  key: string,
  choices: readonly Choice[],
): Choice | undefined {
  return choices.find((choice) => choice === search[key]);
}

export function readId(search: Search, key: string): string | undefined {
  const value = readText(search, key);
  return value !== undefined && UUID.test(value) ? value : undefined;
}

export function readDay(search: Search, key: string): string | undefined {
  const value = readText(search, key);
  return value !== undefined && DAY.test(value) && !Number.isNaN(Date.parse(value))
    ? value
    : undefined;
}

/** Returns whether the state of a list leaves out entries: an order or a page does not. */
export function hasFilter(search: object): boolean {
  const names = Object.keys(compact(search));
  return names.some((name) => name !== 'cursor' && name !== 'sort');
}

/** Leaves out members without a value, so that they do not appear in the address. */
export function compact<Values extends object>(values: Values): Partial<Values> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== ''),
  ) as Partial<Values>;
}
