import { Button, Group, Loader, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Editor } from '../model/editor';
import { isUnconfirmed } from '../model/tags';
import { useSyncExternalStore } from 'react';

/** How many fields have values, and how many predictions wait to be confirmed. */
export function Progress({ editor }: { editor: Editor }) {
  const { t } = useTranslation('workflow/labeling');
  const state = useSyncExternalStore(editor.subscribe, () => editor.state);
  const filled = editor.fields.filter(
    (field) => (state.byField.get(field.key)?.length ?? 0) > 0,
  ).length;
  const unconfirmed = state.tags.filter(isUnconfirmed).length;
  return (
    <>
      <Text size="xs" c="dimmed">
        {t('fields.filled', { filled, count: editor.fields.length })}
      </Text>
      {unconfirmed > 0 && !editor.readOnly && (
        <Button
          size="compact-xs"
          variant="light"
          color="violet"
          onClick={() => editor.confirmAll()}
        >
          {t('fields.confirm_all', { count: unconfirmed })}
        </Button>
      )}
    </>
  );
}

/** Says that a prediction is being made. */
export function PredictionPending() {
  const { t } = useTranslation('workflow/labeling');
  return (
    <Group gap={6} wrap="nowrap" role="status">
      <Loader size={12} />
      <Text size="xs">{t('prediction.pending')}</Text>
    </Group>
  );
}
