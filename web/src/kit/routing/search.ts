/** Search parameters of lists. Unknown values are dropped, so that old links keep working. */

export interface CursorSearch {
  cursor?: string;
}

export function readCursor(search: Record<string, unknown>): CursorSearch {
  return readText(search, 'cursor');
}

/** Reads a parameter that is any text. */
export function readText<Name extends string>(
  search: Record<string, unknown>,
  name: Name,
): Partial<Record<Name, string>> {
  const value = search[name];
  const isText = typeof value === 'string' && value !== '';
  return isText ? ({ [name]: value } as Partial<Record<Name, string>>) : {};
}

/** Reads a parameter that is one of these values. */
export function readOption<Name extends string, Value extends string>(
  search: Record<string, unknown>,
  name: Name,
  values: readonly Value[],
): Partial<Record<Name, Value>> {
  const value = values.find((one) => one === search[name]);
  return value === undefined ? {} : ({ [name]: value } as Partial<Record<Name, Value>>);
}
