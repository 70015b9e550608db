import { Alert, List } from '@mantine/core';
import { Info } from 'lucide-react';
import { useTranslation } from 'react-i18next';

/** Remarks of the API on figures: why something is missing. */
export function Notes({ messages }: { messages: readonly string[] }) {
  const { t } = useTranslation('insight/figures');
  if (messages.length === 0) return null;
  return (
    <Alert color="gray" variant="light" icon={<Info size={16} />} title={t('warnings')}>
      <List size="xs">
        {[...new Set(messages)].map((message) => (
          <List.Item key={message}>
            <bdi>{message}</bdi>
          </List.Item>
        ))}
      </List>
    </Alert>
  );
}
