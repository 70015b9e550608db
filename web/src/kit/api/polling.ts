/** Polling of jobs: often at first, then less and less; not of what is gone or refused. */
import { isApiError } from './errors';

const FIRST_MILLISECONDS = 700;
const LONGEST_MILLISECONDS = 10_000;
/** Not allowed, not there, or not there any more: the answer will not change. */
const FINAL_STATUSES = [403, 404, 410];

interface Polled {
  state: { dataUpdateCount: number; error: unknown };
}

/** How often a query had been read when its job was last seen at rest. */
const readsAtRest = new WeakMap<Polled, number>();

/** Returns how long to wait before a job is read again that has been read `reads` times. */
export function pollDelay(reads: number): number {
  return Math.min(FIRST_MILLISECONDS * 1.4 ** Math.max(reads - 1, 0), LONGEST_MILLISECONDS);
}

/** Returns whether the same request would get the same error again. */
export function isFinalError(error: unknown): boolean {
  return isApiError(error) && FINAL_STATUSES.includes(error.status);
}

/** For `refetchInterval`: reads a query again after as long each time, while it is needed. */
export function pollEvery(
  query: { state: { error: unknown } },
  milliseconds: number,
  isNeeded = true,
): number | false {
  return isNeeded && !isFinalError(query.state.error) && milliseconds;
}

/** For `refetchInterval`: reads a query again while what it shows is pending. */
export function pollWhile(query: Polled, isPending: boolean | undefined): number | false {
  const reads = query.state.dataUpdateCount;
  if (!isPending || isFinalError(query.state.error)) {
    readsAtRest.set(query, reads);
    return false;
  }
  return pollDelay(reads - (readsAtRest.get(query) ?? 0));
}

interface PolledRows<Row> extends Polled {
  state: Polled['state'] & { data: { data: readonly Row[] } | undefined };
}

/** For `refetchInterval` of a list: reads it again while one of its rows is pending. */
export function pollRows<Row>(isPending: (row: Row) => boolean) {
  return (query: PolledRows<Row>) => pollWhile(query, query.state.data?.data.some(isPending));
}
