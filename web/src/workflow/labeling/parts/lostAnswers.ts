import { isApiError } from '@/kit/api/errors';

/**
 * Returns a function that sends a change of a tag set's status. If the answer to one request is lost, and the next
 * one is refused because the tag set already has such a status, the first one was carried out.
 */
export function expectStatus(...statuses: readonly string[]) {
  let isUnanswered = false;
  return async (send: () => Promise<unknown>): Promise<void> => {
    try {
      await send();
    } catch (error) {
      const state = isApiError(error, 'conflict') && error.details['state'];
      if (isUnanswered && statuses.some((status) => status === state)) return;
      // Behind a proxy, 502 and 504 do not tell whether the service has carried it out.
      if (isApiError(error) && (error.status === 0 || error.status >= 500)) isUnanswered = true;
      throw error;
    }
  };
}
