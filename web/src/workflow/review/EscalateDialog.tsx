import { Select, Stack, Textarea } from '@mantine/core';
import { type SyntheticEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { toPeopleOptions } from '@/identity/pickers';
import { $api } from '@/kit/api/client';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { FormActions } from '@/kit/forms/FormActions';
import { Unsaved } from '@/kit/forms/unsaved';
import { roleMay } from '@/kit/session/may';
import { useSession } from '@/kit/session/store';
import { useMembers } from '@/workflow/labeling';

interface Props {
  close: () => void;
  isPending: boolean;
  error: unknown;
  escalate: (reason: string, to: { user_id: string } | { team_id: string }) => void;
}

const TEAM = 'team:';

/** Those who can review, and the teams. */
function useRecipients() {
  const { t } = useTranslation('workflow/review');
  const me = useSession()?.user.id;
  const members = useMembers(true);
  const teams = $api.useQuery('get', '/api/v1/teams', { params: { query: { page_size: 1000 } } });
  return [
    {
      group: t('escalate.reviewers'),
      items: toPeopleOptions(
        members.filter(({ user, role }) => user.id !== me && roleMay(role, 'review_queue:work')),
      ),
    },
    {
      group: t('escalate.teams'),
      items: (teams.data?.data ?? []).map(({ id, name }) => ({
        value: TEAM + id,
        label: name,
      })),
    },
  ].filter(({ items }) => items.length > 0);
}

/** Hands an item to another reviewer or a team, with a reason. */
export function EscalateDialog({ close, isPending, error, escalate }: Props) {
  const { t } = useTranslation('workflow/review');
  const [reason, setReason] = useState('');
  const [to, setTo] = useState<string | null>(null);
  const recipients = useRecipients();
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    if (to === null) return;
    const isTeam = to.startsWith(TEAM);
    escalate(reason.trim(), isTeam ? { team_id: to.slice(TEAM.length) } : { user_id: to });
  };
  return (
    <Dialog onClose={close} title={t('escalate.title')}>
      <form onSubmit={submit}>
        <Stack>
          <Unsaved isDirty={reason.trim() !== ''} />
          <Select
            label={t('escalate.to')}
            searchable
            required
            data-autofocus
            data={recipients}
            value={to}
            onChange={setTo}
          />
          <Textarea
            label={t('reason')}
            required
            rows={3}
            dir="auto"
            maxLength={5000}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
          <ErrorAlert error={error} />
          <FormActions
            submit={t('escalate.button')}
            loading={isPending}
            disabled={!(reason.trim() !== '' && to !== null)}
            onCancel={close}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
