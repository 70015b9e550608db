import type { components } from './schema';

type ErrorBody = components['schemas']['ErrorBody'];

/** An error that the API answered with, or `offline` if no answer came. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;
  readonly field: string | undefined;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(status: number, body: ErrorBody) {
    super(body.message);
    this.name = 'ApiError';
    this.status = status;
    this.code = body.code;
    this.field = body.field;
    this.details = body.details ?? {};
  }
}

export function isApiError(error: unknown, code?: string): error is ApiError {
  return error instanceof ApiError && (code === undefined || error.code === code);
}

/** Returns the error of a response; one without a body of the API gets the code `http_error`. */
export async function readError(response: Response): Promise<ApiError> {
  let body: { error?: ErrorBody } = {};
  try {
    body = (await response.clone().json()) as { error?: ErrorBody };
  } catch {
    // A proxy answered with something else.
  }
  const fallback = { code: 'http_error', message: `${response.status} ${response.statusText}` };
  return new ApiError(response.status, body.error ?? fallback);
}
