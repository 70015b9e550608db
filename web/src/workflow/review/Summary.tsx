import { Text } from '@mantine/core';
import { useSyncExternalStore } from 'react';
import { useTranslation } from 'react-i18next';
import { countDifferences, type Editor, Progress, type Source } from '@/workflow/labeling';

/** How much is filled, and in how many fields others have something else. */
export function Summary({ editor, sources }: { editor: Editor; sources: readonly Source[] }) {
  const { t } = useTranslation('workflow/review');
  const byField = useSyncExternalStore(editor.subscribe, () => editor.state.byField);
  const count = countDifferences(byField, editor.fields, sources);
  return (
    <>
      <Progress editor={editor} />
      {sources.length > 0 && (
        <Text size="xs" c={count === 0 ? 'dimmed' : undefined} fw={count === 0 ? 400 : 600}>
          {t('differences', { count })}
        </Text>
      )}
    </>
  );
}
