import { Text } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import type { WordCursor } from './cursor';
import classes from './Pages.module.css';

/** Says which words the keyboard has chosen, also to screen readers. */
export function CursorBar({ cursor }: { cursor: WordCursor }) {
  const { t } = useTranslation('workflow/labeling');
  const text = useSyncExternalStore(cursor.subscribe, cursor.text);
  return (
    <div id="page-cursor" aria-live="polite" className={text === '' ? undefined : classes.cursor}>
      {text !== '' && (
        <Text size="xs" truncate>
          <bdi>{text}</bdi>{' '}
          <Text span c="dimmed">
            {t('page.cursor')}
          </Text>
        </Text>
      )}
    </div>
  );
}
