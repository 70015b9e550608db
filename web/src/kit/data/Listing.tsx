import { EmptyState, Skeleton, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
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
  empty: { title: string; description?: string; icon?: ReactNode; action?: ReactNode };
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
export function Listing<Row>({ query, cursor, onCursor, empty, children }: Props<Row>) {
  const { data, error } = query;
  if (!data) {
    if (error !== null && error !== undefined)
      return <ErrorAlert error={error} retry={() => query.refetch()} />;
    return <LoadingRows />;
  }
  if (data.data.length === 0 && cursor === undefined) {
    return (
      <EmptyState py="xl" icon={empty.icon} title={empty.title} description={empty.description}>
        {empty.action !== undefined && <EmptyState.Actions>{empty.action}</EmptyState.Actions>}
      </EmptyState>
    );
  }
  return (
    <Stack gap="xs" opacity={query.isPlaceholderData ? 0.6 : 1}>
      {children(data.data)}
      <Pager meta={data.meta} cursor={cursor} onCursor={onCursor} />
    </Stack>
  );
}
