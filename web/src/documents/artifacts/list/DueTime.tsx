import { Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/kit/i18n/format';
import type { ArtifactSummary } from '../useDocuments';

/** Whether the time for a document has passed while it is still to do. */
export function isOverdue(row: Pick<ArtifactSummary, 'due_at' | 'status'>, now: number): boolean {
  return row.due_at !== null && row.status !== 'done' && Date.parse(row.due_at) < now;
}

export function DueTime({ row }: { row: ArtifactSummary }) {
  const { t } = useTranslation('documents/artifacts');
  const format = useFormat();
  if (row.due_at === null) {
    return (
      <Text component="span" size="sm" c="dimmed">
        –
      </Text>
    );
  }

  const overdue = isOverdue(row, Date.now());
  return (
    <Text
      component="time"
      size="sm"
      dateTime={row.due_at}
      title={format.dateTime(row.due_at)}
      {...(overdue && { c: 'var(--mantine-color-error)', fw: 600 })}
    >
      {format.relative(row.due_at)}
      {overdue && ` · ${t('overdue')}`}
    </Text>
  );
}
