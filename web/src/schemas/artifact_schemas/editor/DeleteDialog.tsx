import { useNavigate } from '@tanstack/react-router';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
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
    <ConfirmDialog
      danger
      title={t('delete.title')}
      opened={opened}
      onClose={close}
      action={t('action.delete')}
      onConfirm={submit}
      loading={remove.isPending}
      error={remove.error}
    >
      {t('delete.text', { name: schema.name })}
    </ConfirmDialog>
  );
}
