import { Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { RoleChoice, type Role } from '@/identity/pickers';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { notifyDone } from '@/kit/components/notify';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { fieldErrors, otherError } from '@/kit/forms/fieldErrors';
import { FormActions } from '@/kit/forms/FormActions';
import { Unsaved } from '@/kit/forms/unsaved';
import { requireOrganization } from '@/kit/session/organization';
import { readSession, updateSession } from '@/kit/session/store';
import { rolesToGive } from './rights';
import { useCaller } from './useCaller';

const FIELDS = ['role'] as const;

interface Props {
  member: Schemas['Member'];
  onClose: () => void;
}

/** Changes the role in the session as well if it is the caller's own: pages follow it. */
function followOwnRole(slug: string, userId: string, role: Role): void {
  const session = readSession();
  if (session?.user.id !== userId) return;
  const organizations = session.organizations.map((one) =>
    one.slug === slug ? { ...one, role } : one,
  );
  updateSession({ organizations });
}

export function RoleDialog({ member, onClose }: Props) {
  const { t } = useTranslation('identity/members');
  return (
    <Dialog title={t('role.title', { name: member.user.name })} onClose={onClose}>
      <EditedRecord latest={member}>
        {(record) => <RoleForm member={record} onClose={onClose} />}
      </EditedRecord>
    </Dialog>
  );
}

function RoleForm({ member, onClose }: Props) {
  const { t } = useTranslation('identity/members');
  const { t: tKit } = useTranslation();
  const caller = useCaller();
  const { name, id } = member.user;
  const [role, setRole] = useState<Role>(member.role);
  const change = $api.useMutation('patch', '/api/v1/organizations/{org_slug}/members/{user_id}');
  const roles = caller ? rolesToGive(caller, { id, role: member.role }) : [];
  const org_slug = requireOrganization();

  const submit = () =>
    change.mutate(
      {
        params: { path: { org_slug, user_id: id } },
        body: { role, revision: member.revision },
      },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries({
            queryKey: ['get', '/api/v1/organizations/{org_slug}/members'],
          });
          followOwnRole(org_slug, id, role);
          notifyDone(t('role.done', { name, role: tKit(`roles.${role}`) }));
          onClose();
        },
      },
    );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack>
        <Unsaved isDirty={role !== member.role} />
        <RoleChoice
          value={role}
          onChange={setRole}
          roles={roles}
          error={fieldErrors(change.error, FIELDS)['role']}
        />
        {role === 'owner' && (
          <Text size="xs" c="dimmed">
            {t('role.owner')}
          </Text>
        )}
        <ErrorAlert error={otherError(change.error, FIELDS)} />
        <FormActions
          submit={t('role.save')}
          loading={change.isPending}
          disabled={role === member.role}
          onCancel={onClose}
        />
      </Stack>
    </form>
  );
}
