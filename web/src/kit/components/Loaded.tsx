import type { ReactNode } from 'react';
import { ErrorAlert } from './ErrorAlert';
import { Loading } from './Loading';

interface Query<Data> {
  data: Data | undefined;
  error: unknown;
  refetch: () => unknown;
}

interface Props<Data> {
  query: Query<Data>;
  children: (data: Data) => ReactNode;
}

/** Shows what was read, or that it is being read, or why it cannot be read. */
export function Loaded<Data>({ query, children }: Props<Data>) {
  if (query.data !== undefined) return children(query.data);
  if (query.error !== null && query.error !== undefined)
    return <ErrorAlert error={query.error} retry={() => void query.refetch()} />;
  return <Loading />;
}
