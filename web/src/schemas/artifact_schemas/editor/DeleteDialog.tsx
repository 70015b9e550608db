import { Button, Group, Stack, Text } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { Dialog } from '@/kit/components/Dialog';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import type { SchemaDetail } from '../useDraft';

interface Props {
  schema: SchemaDetail;
  opened: boolean;
  close: () => void;
}

export function DeleteDialog({ schema, opened, close }: Props) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const navigate = useNavigate();
  const remove = $api.useMutation('delete', '/api/v1/schemas/{schema_id}');
  const submit = () =>
    remove.mutate(
      { params: { path: { schema_id: schema.id } } },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/schemas'] });
          void navigate({ to: '/schemas' });
        },
      },
    );
  return (
    <Dialog opened={opened} onClose={close} title={t('delete.title')}>
      <Stack>
        <Text size="sm" dir="auto">
          {t('delete.text', { name: schema.name })}
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
