import { Button, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '@/kit/components/Dialog';
import { useTranslation } from 'react-i18next';
import { type BulkResult, deleteMany, type Target } from './bulk';

interface Props {
  opened: boolean;
  close: () => void;
  count: number;
  target: Target;
  run: (action: () => Promise<BulkResult>) => void;
}

/** From this number on the user has to type it: a habit must not delete an archive. */
const MANY = 20;

export function BulkDeleteDialog({ opened, close, count, target, run }: Props) {
  const { t } = useTranslation('documents/artifacts');
  return (
    <Dialog opened={opened} onClose={close} title={t('bulk.delete_title', { count })}>
      <Form count={count} close={close} submit={() => run(() => deleteMany(target))} />
    </Dialog>
  );
}

function Form({ count, close, submit }: { count: number; close: () => void; submit: () => void }) {
  const { t } = useTranslation('documents/artifacts');
  const [typed, setTyped] = useState('');
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack>
        <Text size="sm">{t('delete.text', { count })}</Text>
        {count >= MANY && (
          <TextInput
            label={t('delete.type', { number: count })}
            inputMode="numeric"
            value={typed}
            onChange={(event) => setTyped(event.currentTarget.value)}
          />
        )}
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            {t('cancel')}
          </Button>
          <Button
            type="submit"
            color="red"
            disabled={count >= MANY && typed.trim() !== String(count)}
          >
            {t('delete.confirm', { count })}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
