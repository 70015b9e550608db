import type { UseFormReturnType } from '@mantine/form';
import { isApiError } from '@/kit/api/errors';

/** Returns the field of a form that an error names: `skills.0` belongs to `skills`. */
function findField(error: unknown, fields: readonly string[]): string | undefined {
  if (!isApiError(error) || error.field === undefined) return undefined;
  const { field } = error;
  const matches = fields.filter(
    (name) => field === name || field.startsWith(`${name}.`) || field.startsWith(`${name}[`),
  );
  return matches.sort((a, b) => b.length - a.length)[0];
}

/** Returns the message of an error that names this field or a member of it. */
export function fieldError(error: unknown, field: string): string | undefined {
  return fieldErrors(error, [field])[field];
}

/** Returns the messages by field, for `form.setErrors`. */
export function fieldErrors(error: unknown, fields: readonly string[]): Record<string, string> {
  const field = findField(error, fields);
  return field !== undefined && error instanceof Error ? { [field]: error.message } : {};
}

/** Returns the error if none of these fields shows it, for `ErrorAlert`. */
export function otherError(error: unknown, fields: readonly string[]): unknown {
  return findField(error, fields) === undefined ? error : null;
}

/** Returns the error with the name of its field, where the input of the field is not beside it. */
export function withFieldName(error: unknown): unknown {
  if (!isApiError(error) || error.field === undefined) return error;
  return new Error(`${error.message} (${error.field})`);
}

/** Shows an error at the field of the form that it names. */
export function showAtField<Values extends Record<string, unknown>>(
  form: UseFormReturnType<Values>,
  error: unknown,
): void {
  const [entry] = Object.entries(fieldErrors(error, Object.keys(form.getValues())));
  if (entry) form.setFieldError(...entry);
}
