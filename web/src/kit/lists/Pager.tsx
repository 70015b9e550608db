import { Button, Group, Text } from '@mantine/core';
import { ChevronFirst, ChevronLeft, ChevronRight } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { useFormat } from '@/kit/i18n/format';

interface Props {
  meta: Schemas['PageMeta'];
  /** The cursor of the address; without one, the first page is shown. */
  cursor: string | undefined;
  onCursor: (cursor: string | undefined) => void;
}

/** The exact number of entries, and the ways to the other pages if there are any. */
export function Pager({ meta, cursor, onCursor }: Props) {
  const { t } = useTranslation();
  const format = useFormat();
  const { total, prev_cursor: previous, next_cursor: next } = meta;
  const control = { variant: 'default', size: 'compact-sm' } as const;
  return (
    <Group justify="space-between" gap="xs" mih={28}>
      <Text size="xs" c="dimmed" role="status">
        {t('list.total', { count: total, formatted: format.number(total) })}
      </Text>
      {(cursor !== undefined || next !== null) && (
        <Group gap={4} component="nav" aria-label={t('list.pages')}>
          <Button
            {...control}
            px={4}
            aria-label={t('list.first')}
            disabled={cursor === undefined}
            onClick={() => onCursor(undefined)}
          >
            <ChevronFirst size={14} />
          </Button>
          <Button
            {...control}
            leftSection={<ChevronLeft size={14} />}
            disabled={previous === null}
            onClick={() => onCursor(previous ?? undefined)}
          >
            {t('list.previous')}
          </Button>
          <Button
            {...control}
            rightSection={<ChevronRight size={14} />}
            disabled={next === null}
            onClick={() => onCursor(next ?? undefined)}
          >
            {t('list.next')}
          </Button>
        </Group>
      )}
    </Group>
  );
}
