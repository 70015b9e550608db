/** Polling of jobs: often at first, then less and less. */

const FIRST_MILLISECONDS = 700;
const LONGEST_MILLISECONDS = 10_000;

interface Polled {
  state: { dataUpdateCount: number };
}

/** How often a query had been read when its job was last seen at rest. */
const readsAtRest = new WeakMap<Polled, number>();

/** Returns how long to wait before a job is read again that has been read `reads` times. */
export function pollDelay(reads: number): number {
  return Math.min(FIRST_MILLISECONDS * 1.4 ** Math.max(reads - 1, 0), LONGEST_MILLISECONDS);
}

/** For `refetchInterval`: reads a query again while what it shows is pending. */
export function pollWhile(query: Polled, isPending: boolean | undefined): number | false {
  const reads = query.state.dataUpdateCount;
  if (!isPending) {
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
