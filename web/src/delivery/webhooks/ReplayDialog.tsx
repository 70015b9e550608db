import { Button, Checkbox, Group, Stack, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ifMatch } from '@/kit/api/idempotency';
import type { Schemas } from '@/kit/api/types';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { fieldError, otherError } from '@/kit/forms/fieldErrors';
import { fromLocal } from '@/kit/forms/times';
import { refresh } from './refresh';
import { type Details, REPLAYABLE } from './values';

type Replay = Schemas['ReplayDeliveries'];
type Status = (typeof REPLAYABLE)[number];

function buildReplay(from: string, to: string, statuses: Status[]): Replay {
  return {
    statuses,
    ...(from && { from: fromLocal(from) ?? from }),
    ...(to && { to: fromLocal(to) ?? to }),
  };
}

function useReplay(webhook: Details, close: () => void) {
  const activate = $api.useMutation('post', '/api/v1/webhooks/{webhook_id}/activate');
  const submit = (replay: Replay) =>
    activate.mutate(
      {
        params: { path: { webhook_id: webhook.id }, header: ifMatch(webhook.revision) },
        body: { replay },
      },
      { onSuccess: close, onSettled: refresh },
    );
  return { submit, error: activate.error, isPending: activate.isPending };
}

/** Sends deliveries of a period again: those that were missed, or more. */
export function ReplayDialog({ webhook, close }: { webhook: Details; close: () => void }) {
  const { t } = useTranslation('delivery/webhooks');
  const [from, setFrom] = useState('');
  const [to, setTo] = useState('');
  const [statuses, setStatuses] = useState<Status[]>(['abandoned', 'failed']);
  const activate = useReplay(webhook, close);
  return (
    <Dialog onClose={close} title={t('replay.start')}>
      {/* Browsers refuse a time that is not complete, which would be read as none. */}
      <form
        onSubmit={(event) => {
          event.preventDefault();
          activate.submit(buildReplay(from, to, statuses));
        }}
      >
        <Stack>
          <Text size="sm">{t('replay.text', { count: webhook.missed_count })}</Text>
          <TextInput
            type="datetime-local"
            label={t('replay.from')}
            description={t('replay.from_hint')}
            value={from}
            onChange={(event) => setFrom(event.currentTarget.value)}
            error={fieldError(activate.error, 'replay.from')}
          />
          <TextInput
            type="datetime-local"
            label={t('replay.to')}
            value={to}
            onChange={(event) => setTo(event.currentTarget.value)}
            error={fieldError(activate.error, 'replay.to')}
          />
          <Statuses
            value={statuses}
            onChange={setStatuses}
            error={fieldError(activate.error, 'replay.statuses')}
          />
          <ErrorAlert
            error={otherError(activate.error, ['replay.from', 'replay.to', 'replay.statuses'])}
          />
          <Group justify="flex-end">
            <Button type="submit" loading={activate.isPending} disabled={statuses.length === 0}>
              {t('replay.confirm')}
            </Button>
          </Group>
        </Stack>
      </form>
    </Dialog>
  );
}

interface StatusesProps {
  value: Status[];
  onChange: (statuses: Status[]) => void;
  error: string | undefined;
}

function Statuses({ value, onChange, error }: StatusesProps) {
  const { t } = useTranslation('delivery/webhooks');
  return (
    <Checkbox.Group
      label={t('replay.statuses')}
      description={value.includes('delivered') && t('replay.delivered_hint')}
      value={value}
      onChange={(next) => onChange(REPLAYABLE.filter((one) => next.includes(one)))}
      error={error}
    >
      <Group mt={4} mb={4}>
        {REPLAYABLE.map((one) => (
          <Checkbox key={one} value={one} label={t(`statuses.${one}`)} />
        ))}
      </Group>
    </Checkbox.Group>
  );
}
