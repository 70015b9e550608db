import { Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import { isApiError } from '@/kit/api/errors';
import type { Schemas } from '@/kit/api/types';
import { EmptyState, type EmptyStateProps } from '@/kit/components/EmptyState';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Pager } from './Pager';

interface ListQuery<Row> {
  data: { data: readonly Row[]; meta: Schemas['PageMeta'] } | undefined;
  error: unknown;
  isPlaceholderData: boolean;
  refetch: () => unknown;
}

interface Props<Row> {
  query: ListQuery<Row>;
  cursor: string | undefined;
  onCursor: (cursor: string | undefined) => void;
  /** What is shown instead of an empty table. */
  empty: EmptyStateProps;
  /** Inputs above the table, which are left out where there is nothing at all. */
  filters?: ReactNode;
  /** A filter is set: nothing to show means that nothing matches. */
  isFiltered?: boolean;
  children: (rows: readonly Row[]) => ReactNode;
}

export function LoadingRows({ rows = 5 }: { rows?: number }) {
  const { t } = useTranslation();
  return (
    <Stack gap="xs" role="status" aria-label={t('loading')}>
      {Array.from({ length: rows }, (_, index) => (
        <Skeleton key={index} h={28} />
      ))}
    </Stack>
  );
}

/** A page of a list of the API: loading, error, nothing there, or the entries with their pages. */
export function Listing<Row>({ query, cursor, onCursor, empty, ...props }: Props<Row>) {
  const { t } = useTranslation();
  const { data, error } = query;
  const isEmpty = data?.data.length === 0 && cursor === undefined;
  if (isEmpty && !props.isFiltered) return <EmptyState {...empty} />;
  const hasError = error !== null && error !== undefined;
  // A filter may be why there is an error: it has to stay within reach.
  const hasFilters = data !== undefined || hasError || props.isFiltered === true;
  const retry = () => {
    // The cursor of an old address may belong to another list.
    if (isApiError(error) && error.field === 'cursor') onCursor(undefined);
    else query.refetch();
  };
  return (
    <Stack gap="xs" opacity={query.isPlaceholderData ? 0.6 : 1}>
      {hasFilters && props.filters}
      {!data && hasError && <ErrorAlert error={error} retry={retry} />}
      {!data && !hasError && <LoadingRows />}
      {data && (isEmpty ? <EmptyState title={t('list.none_match')} /> : props.children(data.data))}
      {data && <Pager meta={data.meta} cursor={cursor} onCursor={onCursor} />}
    </Stack>
  );
}
