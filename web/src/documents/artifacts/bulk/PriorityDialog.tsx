import { Button, Group, Stack } from '@mantine/core';
import { useState } from 'react';
import { Dialog } from '@/kit/components/Dialog';
import { useTranslation } from 'react-i18next';
import { IntegerInput } from '@/kit/forms/IntegerInput';
import { type BulkResult, setPriority } from './bulk';

interface Props {
  opened: boolean;
  close: () => void;
  count: number;
  ids: readonly string[];
  run: (action: () => Promise<BulkResult>) => void;
}

const NORMAL = 50;

export function PriorityDialog({ opened, close, count, ids, run }: Props) {
  const { t } = useTranslation('documents/artifacts');
  const [priority, change] = useState<number | ''>(NORMAL);
  return (
    <Dialog opened={opened} onClose={close} title={t('bulk.priority_title', { count })}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          run(() => setPriority(ids, Number(priority)));
        }}
      >
        <Stack>
          <IntegerInput
            label={t('column.priority')}
            description={t('priority_hint')}
            min={0}
            max={100}
            value={priority}
            onChange={change}
            data-autofocus
          />
          <Group justify="flex-end">
            <Button type="submit" disabled={priority === ''}>
              {t('save')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}
