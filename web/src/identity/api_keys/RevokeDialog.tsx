import { useQueryClient } from '@tanstack/react-query';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { currentOrganization } from '@/kit/session/organization';

interface Props {
  apiKey: Schemas['ApiKey'];
  close: () => void;
}

export function RevokeDialog({ apiKey, close }: Props) {
  const { t } = useTranslation('identity/api_keys');
  const client = useQueryClient();
  const revoke = $api.useMutation('delete', '/api/v1/organizations/{org_slug}/api-keys/{key_id}');
  const confirm = () =>
    revoke.mutate(
      {
        params: {
          path: { org_slug: currentOrganization() ?? '', key_id: apiKey.id },
        },
      },
      {
        onSuccess: () => {
          void client.invalidateQueries({
            queryKey: ['get', '/api/v1/organizations/{org_slug}/api-keys'],
          });
          close();
        },
      },
    );
  return (
    <ConfirmDialog
      danger
      title={t('revoke_named', { name: apiKey.name })}
      action={t('revoke')}
      loading={revoke.isPending}
      error={revoke.error}
      onConfirm={confirm}
      onClose={close}
    >
      {t('revoke_text')}
    </ConfirmDialog>
  );
}
