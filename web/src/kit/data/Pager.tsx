import { ActionIcon, Group, Text } from '@mantine/core';
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
  const { t } = useTranslation('kit/data');
  const format = useFormat();
  const next = meta.next_cursor ?? undefined;
  const previous = meta.prev_cursor ?? undefined;
  const control = { variant: 'default', size: 'md' } as const;
  return (
    <Group justify="space-between" mih={28}>
      <Text size="xs" c="dimmed" aria-live="polite">
        {t('total', { count: meta.total, formatted: format.number(meta.total) })}
      </Text>
      {(cursor !== undefined || next !== undefined) && (
        <Group gap={4} component="nav" aria-label={t('pages')}>
          <ActionIcon
            {...control}
            aria-label={t('first')}
            disabled={cursor === undefined}
            onClick={() => onCursor(undefined)}
          >
            <ChevronFirst size={16} />
          </ActionIcon>
          <ActionIcon
            {...control}
            aria-label={t('previous')}
            disabled={previous === undefined}
            onClick={() => onCursor(previous)}
          >
            <ChevronLeft size={16} />
          </ActionIcon>
          <ActionIcon
            {...control}
            aria-label={t('next')}
            disabled={next === undefined}
            onClick={() => onCursor(next)}
          >
            <ChevronRight size={16} />
          </ActionIcon>
        </Group>
      )}
    </Group>
  );
}
