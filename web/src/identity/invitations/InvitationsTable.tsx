import { Button, Group } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { notifyDone, notifyError } from '@/kit/components/notify';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { requireOrganization } from '@/kit/session/organization';
import { refreshInvitations } from './refresh';
import type { InvitationsSearch } from './routes';

type Invitation = Schemas['Invitation'];

interface Props {
  invitations: readonly Invitation[];
  sort: NonNullable<InvitationsSearch['sort']>;
  onSort: (sort: InvitationsSearch['sort']) => void;
}

function useColumns(onRevoke: (invitation: Invitation) => void): Column<Invitation>[] {
  const { t } = useTranslation('identity/invitations');
  const { t: tKit } = useTranslation();
  const format = useFormat();
  return [
    {
      key: 'email',
      title: t('columns.email'),
      sort: 'email',
      heads: true,
      cell: ({ email }) => email,
    },
    { key: 'role', title: t('columns.role'), cell: ({ role }) => tKit(`roles.${role}`) },
    {
      key: 'inviter',
      title: t('columns.inviter'),
      cell: ({ invited_by }) => <span dir="auto">{invited_by?.name ?? '–'}</span>,
    },
    {
      key: 'sent',
      title: t('columns.sent'),
      sort: 'created_at',
      cell: ({ created_at }) => format.dateTime(created_at),
    },
    {
      key: 'expires',
      title: t('columns.expires'),
      cell: ({ expires_at }) => format.dateTime(expires_at),
    },
    {
      key: 'actions',
      title: t('columns.actions'),
      align: 'end',
      cell: (invitation) => <Actions invitation={invitation} onRevoke={onRevoke} />,
    },
  ];
}

export function InvitationsTable({ invitations, sort, onSort }: Props) {
  const { t } = useTranslation('identity/invitations');
  const [revoked, setRevoked] = useState<Invitation>();
  const columns = useColumns(setRevoked);
  return (
    <>
      <DataTable<Invitation>
        label={t('title')}
        rows={invitations}
        rowKey={({ id }) => id}
        sort={sort}
        onSort={(next) => onSort(next as InvitationsSearch['sort'])}
        minWidth={760}
        columns={columns}
      />
      {revoked && <Revoke invitation={revoked} onClose={() => setRevoked(undefined)} />}
    </>
  );
}

interface ActionsProps {
  invitation: Invitation;
  onRevoke: (invitation: Invitation) => void;
}

function Actions({ invitation, onRevoke }: ActionsProps) {
  const { t } = useTranslation('identity/invitations');
  const { email, role, team_ids, status } = invitation;
  const send = $api.useMutation('post', '/api/v1/organizations/{org_slug}/invitations');
  if (status === 'accepted') return null;
  const resend = () =>
    send.mutate(
      {
        params: { path: { org_slug: requireOrganization() } },
        body: { email, role, team_ids },
      },
      {
        onSuccess: () => {
          refreshInvitations();
          notifyDone(t('resend.done', { email }));
        },
        onError: notifyError,
      },
    );
  return (
    <Group gap={4} justify="flex-end" wrap="nowrap">
      <Button
        size="compact-sm"
        variant="subtle"
        loading={send.isPending}
        aria-label={t('resend.label', { email })}
        onClick={resend}
      >
        {t('resend.action')}
      </Button>
      {status === 'open' && (
        <Button
          size="compact-sm"
          variant="subtle"
          c="var(--mantine-color-error)"
          aria-label={t('revoke.label', { email })}
          onClick={() => onRevoke(invitation)}
        >
          {t('revoke.action')}
        </Button>
      )}
    </Group>
  );
}

function Revoke({ invitation, onClose }: { invitation: Invitation; onClose: () => void }) {
  const { t } = useTranslation('identity/invitations');
  const { email, id } = invitation;
  const revoke = $api.useMutation(
    'delete',
    '/api/v1/organizations/{org_slug}/invitations/{invitation_id}',
  );
  const confirm = () =>
    revoke.mutate(
      { params: { path: { org_slug: requireOrganization(), invitation_id: id } } },
      {
        onSuccess: () => {
          refreshInvitations();
          notifyDone(t('revoke.done', { email }));
          onClose();
        },
      },
    );
  return (
    <ConfirmDialog
      title={t('revoke.title', { email })}
      action={t('revoke.action')}

      onClose={onClose}
      onConfirm={confirm}
      loading={revoke.isPending}
      error={revoke.error}
      danger
    >
      {t('revoke.text')}
    </ConfirmDialog>
  );
}
