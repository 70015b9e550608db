import { Radio, Select, Stack, Textarea } from '@mantine/core';
import { type SyntheticEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { toPeopleOptions } from '@/identity/pickers';
import type { Schemas } from '@/kit/api/types';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { fieldError, otherError } from '@/kit/forms/fieldErrors';
import { FormActions } from '@/kit/forms/FormActions';
import { Unsaved } from '@/kit/forms/unsaved';
import { useMembers } from '@/workflow/labeling';

interface Props {
  tagSet: Schemas['TagSet'];
  close: () => void;
  isPending: boolean;
  error: unknown;
  reject: (reason: string, sendTo: string) => void;
}

const RECIPIENTS = ['labeler', 'pool', 'member'] as const;
type Recipient = (typeof RECIPIENTS)[number];

interface RecipientsProps {
  tagSet: Schemas['TagSet'];
  to: Recipient;
  setTo: (to: Recipient) => void;
  member: string | null;
  setMember: (member: string | null) => void;
  error: string | undefined;
}

function Recipients({ tagSet, to, setTo, member, setMember, error }: RecipientsProps) {
  const { t } = useTranslation('workflow/review');
  const members = useMembers(to === 'member').filter(({ role }) => role !== 'viewer');
  return (
    <>
      <Radio.Group
        label={t('reject.to')}
        value={to}
        onChange={(value) => setTo(RECIPIENTS.find((one) => one === value) ?? 'pool')}
        error={error}
      >
        <Stack gap={6} mt={4}>
          {tagSet.labeler && (
            <Radio value="labeler" label={t('reject.labeler', { name: tagSet.labeler.name })} />
          )}
          <Radio value="pool" label={t('reject.pool')} />
          <Radio value="member" label={t('reject.member')} />
        </Stack>
      </Radio.Group>
      {to === 'member' && (
        <Select
          label={t('reject.name')}
          searchable
          required
          data={toPeopleOptions(members)}
          value={member}
          onChange={setMember}
        />
      )}
    </>
  );
}

/** Returns a tag set with a reason: to its labeler, to everybody, or to a member. */
export function RejectDialog({ tagSet, close, isPending, error, reject }: Props) {
  const { t } = useTranslation('workflow/review');
  const [reason, setReason] = useState('');
  const [to, setTo] = useState<Recipient>(tagSet.labeler ? 'labeler' : 'pool');
  const [member, setMember] = useState<string | null>(null);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    const sendTo = to === 'member' ? member : to;
    // The keys also reach a form whose button is off.
    if (sendTo !== null && !isPending) reject(reason.trim(), sendTo);
  };
  return (
    <Dialog onClose={close} title={t('reject.title')}>
      <form onSubmit={submit}>
        <Stack>
          <Unsaved isDirty={reason.trim() !== ''} />
          <Textarea
            label={t('reason')}
            required
            rows={3}
            dir="auto"
            maxLength={5000}
            data-autofocus
            value={reason}
            error={fieldError(error, 'reason')}
            onChange={(event) => setReason(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === 'Enter' && (event.ctrlKey || event.metaKey))
                event.currentTarget.form?.requestSubmit();
            }}
          />
          <Recipients
            tagSet={tagSet}
            to={to}
            setTo={setTo}
            member={member}
            setMember={setMember}
            error={fieldError(error, 'send_to')}
          />
          <ErrorAlert error={otherError(error, ['reason', 'send_to'])} />
          <FormActions
            submit={t('reject.button')}
            loading={isPending}
            disabled={!(reason.trim() !== '' && (to !== 'member' || member !== null))}
            onCancel={close}
            danger
          />
        </Stack>
      </form>
    </Dialog>
  );
}
