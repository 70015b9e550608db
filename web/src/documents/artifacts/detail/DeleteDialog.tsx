import { useNavigate } from '@tanstack/react-router';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
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
      {t('delete.one', { name: row.name })}
    </ConfirmDialog>
  );
}
