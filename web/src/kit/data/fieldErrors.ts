import { isApiError } from '@/kit/api/errors';

/** Returns the field of a form that an error names: `skills.0` belongs to `skills`. */
export function findField(error: unknown, fields: readonly string[]): string | undefined {
  if (!isApiError(error) || error.field === undefined) return undefined;
  const { field } = error;
  const matches = fields.filter(
    (name) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
  );
  return matches.sort((a, b) => b.length - a.length)[0];
}

/** Returns the messages by field, for `form.setErrors`. */
export function fieldErrors(error: unknown, fields: readonly string[]): Record<string, string> {
  const field = findField(error, fields);
  return field !== undefined && error instanceof Error ? { [field]: error.message } : {};
}

/** Returns the error if it belongs to no field of the form, for `ErrorAlert`. */
export function otherError(error: unknown, fields: readonly string[]): unknown {
  return findField(error, fields) === undefined ? error : null;
}
