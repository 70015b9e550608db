import { Button, Group, Text } from '@mantine/core';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/kit/i18n/format';

interface Props {
  meta: { total: number; next_cursor: string | null; prev_cursor: string | null };
  onCursor: (cursor: string | undefined) => void;
}

/** The exact total of a list, and the way to its next and previous page. */
export function Pager({ meta, onCursor }: Props) {
  const { t } = useTranslation('kit/parts');
  const format = useFormat();
  const go = (cursor: string | null) => () => onCursor(cursor ?? undefined);
  return (
    <Group justify="space-between" gap="xs">
      <Text size="sm" c="dimmed" role="status">
        {t('total', { count: meta.total, formatted: format.number(meta.total) })}
      </Text>
      {(meta.next_cursor !== null || meta.prev_cursor !== null) && (
        <Group gap="xs" component="nav" aria-label={t('pages')}>
          <Button
            size="compact-sm"
            variant="default"
            disabled={meta.prev_cursor === null}
            onClick={go(meta.prev_cursor)}
            leftSection={<ChevronLeft size={14} />}
          >
            {t('previous')}
          </Button>
          <Button
            size="compact-sm"
            variant="default"
            disabled={meta.next_cursor === null}
            onClick={go(meta.next_cursor)}
            rightSection={<ChevronRight size={14} />}
          >
            {t('next')}
          </Button>
        </Group>
      )}
    </Group>
  );
}
