import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { fieldError, otherError } from '@/kit/forms/fieldErrors';
import { Unsaved, useIsChanged } from '@/kit/forms/unsaved';
import { EventsPicker } from './EventsPicker';
import type { EventName, Webhook } from './values';

interface Values {
  url: string;
  description: string;
  events: EventName[];
}

interface Props {
  webhook?: Webhook;
  submitText: string;
  pending: boolean;
  error: unknown;
  onSubmit: (values: Values) => void;
}

/** The URL, the description and the events of a webhook. */
export function WebhookForm({ webhook, submitText, pending, error, onSubmit }: Props) {
  const { t } = useTranslation('delivery/webhooks');
  const [url, setUrl] = useState(webhook?.url ?? '');
  const [description, setDescription] = useState(webhook?.description ?? '');
  const [events, setEvents] = useState<EventName[]>(webhook?.events ?? []);
  const [checked, setChecked] = useState(false);
  const isDirty = useIsChanged({ url, description, events });
  const missing = checked && events.length === 0 ? t('events_required') : undefined;
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        setChecked(true);
        if (events.length > 0) onSubmit({ url, description, events });
      }}
    >
      <Stack>
        <Unsaved isDirty={isDirty} />
        <TextInput
          label={t('url')}
          description={t('url_hint')}
          type="url"
          required
          data-autofocus
          placeholder="https://"
          value={url}
          onChange={(event) => setUrl(event.currentTarget.value)}
          error={fieldError(error, 'url')}
        />
        <TextInput
          label={t('note')}
          value={description}
          dir="auto"
          onChange={(event) => setDescription(event.currentTarget.value)}
          error={fieldError(error, 'description')}
        />
        <EventsPicker
          value={events}
          onChange={setEvents}
          error={missing ?? fieldError(error, 'events')}
        />
        <ErrorAlert error={otherError(error, ['url', 'description', 'events'])} />
        <Group justify="flex-end">
          <Button type="submit" loading={pending}>
            {submitText}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
