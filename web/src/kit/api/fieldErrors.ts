import { isApiError } from './errors';

/** Returns the field that an error of the API names, with the message; undefined without one. */
export function fieldError(error: unknown): { field: string; message: string } | undefined {
  if (!isApiError(error) || error.field === undefined) return undefined;
  return { field: error.field, message: error.message };
}
