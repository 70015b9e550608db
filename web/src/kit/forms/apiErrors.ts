import type { UseFormReturnType } from '@mantine/form';
import { isApiError } from '@/kit/api/errors';

/** Shows an error of the API at the field that it names. Returns whether the form has that field. */
export function showAtField<Values extends Record<string, unknown>>(
  form: UseFormReturnType<Values>,
  error: unknown,
): boolean {
  if (!isApiError(error) || error.field === undefined || !(error.field in form.getValues()))
    return false;
  form.setFieldError(error.field, error.message);
  return true;
}

/** Returns the error if it belongs to none of these fields: then it is shown above the form. */
export function withoutFields(error: unknown, fields: readonly string[]): unknown {
  return isApiError(error) && error.field !== undefined && fields.includes(error.field)
    ? null
    : error;
}
