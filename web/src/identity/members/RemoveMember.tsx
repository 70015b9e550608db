import { useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { notifyDone } from '@/kit/components/notify';
import { requireOrganization, setCurrentOrganization } from '@/kit/session/organization';
import { readSession, updateSession } from '@/kit/session/store';
import { useCaller } from './useCaller';

interface Props {
  member: Schemas['Member'];
  onClose: () => void;
}

/** Asks, and then removes a member or lets the caller leave. */
export function RemoveMember({ member, onClose }: Props) {
  const { t } = useTranslation('identity/members');
  const router = useRouter();
  const self = useCaller()?.id === member.user.id;
  const { name, id } = member.user;
  const slug = requireOrganization();
  const remove = $api.useMutation('delete', '/api/v1/organizations/{org_slug}/members/{user_id}');

  const leave = async () => {
    const organizations = readSession()?.organizations.filter((one) => one.slug !== slug) ?? [];
    queryClient.clear();
    setCurrentOrganization(undefined);
    updateSession({ organizations });
    await router.navigate({ to: '/organizations' });
  };
  const confirm = () =>
    remove.mutate(
      { params: { path: { org_slug: slug, user_id: id } } },
      {
        onSuccess: () => {
          onClose();
          if (self) {
            void leave();
            return;
          }
          notifyDone(t('remove.done', { name }));
          void queryClient.invalidateQueries();
        },
      },
    );
  return (
    <ConfirmDialog
      title={self ? t('leave.title') : t('remove.title', { name })}
      action={self ? t('leave.action') : t('remove.action')}

      onClose={onClose}
      onConfirm={confirm}
      loading={remove.isPending}
      error={remove.error}
      danger
    >
      {self ? t('leave.text') : t('remove.text', { name })}
    </ConfirmDialog>
  );
}
