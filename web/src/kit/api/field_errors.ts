import { ApiError } from './errors';

/** Returns the message of an error that names this field or a member of it. */
export function fieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof ApiError) || error.field === undefined) return undefined;
  const isOwn = error.field === field || error.field.startsWith(`${field}.`);
  return isOwn ? error.message : undefined;
}

/** Returns the error if none of these fields shows it. */
export function otherError(error: unknown, fields: readonly string[]): unknown {
  return fields.some((field) => fieldError(error, field) !== undefined) ? null : error;
}
