import { Button, Group, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Dialog } from '@/kit/components/Dialog';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import type { Artifact } from '../useDocuments';

interface Props {
  row: Artifact;
  opened: boolean;
  close: () => void;
}

export function DeleteDialog({ row, opened, close }: Props) {
  const { t } = useTranslation('documents/artifacts');
  const navigate = useNavigate();
  const remove = $api.useMutation('delete', '/api/v1/artifacts/{artifact_id}');
  const submit = () =>
    remove.mutate(
      { params: { path: { artifact_id: row.id } } },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/artifacts'] });
          void navigate({ to: '/documents' });
        },
      },
    );
  return (
    <Dialog opened={opened} onClose={close} title={t('delete.title')}>
      <Stack>
        <Text size="sm" dir="auto">
          {t('delete.one', { name: row.name })}
        </Text>
        <ErrorAlert error={remove.error} />
        <Group justify="flex-end">
          <Button variant="default" onClick={close} data-autofocus>
            {t('cancel')}
          </Button>
          <Button color="red" loading={remove.isPending} onClick={submit}>
            {t('action.delete')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
