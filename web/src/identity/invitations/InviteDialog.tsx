import { Alert, List, MultiSelect, Stack, Textarea } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { RoleChoice, rolesUpTo, useTeams, type Role } from '@/identity/pickers';
import { api } from '@/kit/api/client';
import { Dialog } from '@/kit/components/Dialog';
import { notifyDone } from '@/kit/components/notify';
import { FormActions } from '@/kit/forms/FormActions';
import { Unsaved } from '@/kit/forms/unsaved';
import { currentRole } from '@/kit/session/may';
import { requireOrganization } from '@/kit/session/organization';
import { keepUnsent, splitAddresses } from './addresses';
import { refreshInvitations } from './refresh';

interface Failure {
  email: string;
  message: string;
}

/** Sends one invitation after the other and returns those that failed, with the reason. */
async function inviteAll(
  emails: readonly string[],
  role: Role,
  teamIds: string[],
): Promise<Failure[]> {
  const failures: Failure[] = [];
  const path = { org_slug: requireOrganization() };
  for (const email of emails) {
    try {
      await api.POST('/api/v1/organizations/{org_slug}/invitations', {
        params: { path },
        body: { email, role, team_ids: teamIds },
      });
    } catch (error) {
      failures.push({ email, message: error instanceof Error ? error.message : '' });
    }
  }
  return failures;
}

function Failures({ failures }: { failures: readonly Failure[] }) {
  const { t } = useTranslation('identity/invitations');
  if (failures.length === 0) return null;
  return (
    <Alert color="red" variant="light" role="alert" title={t('invite.failed')}>
      <List size="sm">
        {failures.map(({ email, message }) => (
          <List.Item key={email}>{`${email}: ${message}`}</List.Item>
        ))}
      </List>
    </Alert>
  );
}

interface TeamsChoiceProps {
  value: string[];
  onChange: (ids: string[]) => void;
}

function TeamsChoice({ value, onChange }: TeamsChoiceProps) {
  const { t } = useTranslation('identity/invitations');
  const teams = useTeams();
  if (teams.length === 0) return null;
  return (
    <MultiSelect
      label={t('invite.teams')}
      data={teams}
      value={value}
      onChange={onChange}
      searchable
      limit={100}
    />
  );
}

/** What was typed, and sending it: what was not sent stays. */
function useInvite(role: Role, teamIds: string[], onClose: () => void) {
  const { t } = useTranslation('identity/invitations');
  const [typed, setTyped] = useState('');
  const latest = useRef(typed);
  const change = (text: string) => {
    latest.current = text;
    setTyped(text);
  };
  const invite = useMutation({
    mutationFn: async (text: string) => {
      const { addresses: emails, others } = splitAddresses(text);
      const message = t('invite.no_address');
      const failures = await inviteAll(emails, role, teamIds);
      const sent = emails.length - failures.length;
      return { sent, failures: [...failures, ...others.map((email) => ({ email, message }))] };
    },
    onSuccess: ({ sent, failures }, text) => {
      refreshInvitations();
      if (sent > 0) notifyDone(t('invite.sent', { count: sent }));
      const failed = failures.map(({ email }) => email);
      // It can be typed on while the invitations are sent.
      const left = keepUnsent(latest.current, text, failed);
      change(left);
      if (left === '') onClose();
    },
  });
  return { typed, change, invite };
}

export function InviteDialog({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation('identity/invitations');
  const [role, setRole] = useState<Role>('labeler');
  const [teamIds, setTeamIds] = useState<string[]>([]);
  const { typed, change, invite } = useInvite(role, teamIds, onClose);
  const { addresses } = splitAddresses(typed);
  return (
    <Dialog title={t('invite.title')} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!invite.isPending) invite.mutate(typed);
        }}
      >
        <Stack>
          <Unsaved isDirty={typed.trim() !== ''} />
          <Textarea
            label={t('invite.emails')}
            description={t('invite.emails_text')}
            inputMode="email"
            autosize
            minRows={2}
            maxRows={8}
            value={typed}
            onChange={(event) => change(event.currentTarget.value)}
            data-autofocus
          />
          <RoleChoice value={role} onChange={setRole} roles={rolesUpTo(currentRole())} />
          <TeamsChoice value={teamIds} onChange={setTeamIds} />
          <Failures failures={invite.data?.failures ?? []} />
          <FormActions
            submit={t('invite.send', { count: Math.max(addresses.length, 1) })}
            loading={invite.isPending}
            disabled={typed.trim() === ''}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
