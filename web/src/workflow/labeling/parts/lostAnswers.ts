import { type ApiError, isApiError } from '@/kit/api/errors';

/** Whether a request was refused because the tag set already has such a status. */
export function hasStatus(...statuses: readonly string[]) {
  return ({ code, details }: ApiError) =>
    code === 'conflict' && statuses.some((status) => status === details['state']);
}

/**
 * Returns a function that sends a change that works once. If the answer to one request is lost, and the next one is
 * refused because it `isDone`, the first one was carried out.
 */
export function expectLoss(isDone: (refusal: ApiError) => boolean) {
  let isUnanswered = false;
  return async (send: () => Promise<unknown>): Promise<void> => {
    try {
      await send();
    } catch (error) {
      if (isUnanswered && isApiError(error) && isDone(error)) return;
      // Behind a proxy, 502 and 504 do not tell whether the service has carried it out.
      if (isApiError(error) && (error.status === 0 || error.status >= 500)) isUnanswered = true;
      throw error;
    }
  };
}
