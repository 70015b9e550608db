import { Button, Group, Text } from '@mantine/core';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { useFormat } from '@/kit/i18n/format';

interface Props {
  meta: Schemas['PageMeta'];
  /** Goes to another page; the cursor belongs into the address. */
  go: (cursor: string | undefined) => void;
}

/** The total of a list, and the way to its other pages. Nothing to page: only the total. */
export function Pager({ meta, go }: Props) {
  const { t } = useTranslation();
  const { number } = useFormat();
  const { total, prev_cursor: previous, next_cursor: next } = meta;
  if (total === 0) return null;
  return (
    <Group justify="space-between" component="nav" aria-label={t('pager.title')}>
      <Text size="xs" c="dimmed">
        {t('pager.total', { count: total, shown: number(total) })}
      </Text>
      {(previous !== null || next !== null) && (
        <Group gap={4}>
          <Button
            variant="default"
            size="compact-sm"
            leftSection={<ChevronLeft size={14} />}
            disabled={previous === null}
            onClick={() => go(previous ?? undefined)}
          >
            {t('pager.previous')}
          </Button>
          <Button
            variant="default"
            size="compact-sm"
            rightSection={<ChevronRight size={14} />}
            disabled={next === null}
            onClick={() => go(next ?? undefined)}
          >
            {t('pager.next')}
          </Button>
        </Group>
      )}
    </Group>
  );
}
