import { Button, Checkbox, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import type { Schemas } from '@/kit/api/types';
import { CodeBlock } from '@/kit/components/CodeBlock';
import type { EventName } from './values';

interface Props {
  value: EventName[];
  onChange: (events: EventName[]) => void;
  error: string | undefined;
}

/** Events to choose, from the catalogue of the service, each with a sample of its body. */
export function EventsPicker({ value, onChange, error }: Props) {
  const { t, i18n } = useTranslation('delivery/webhooks');
  const catalogue = $api.useQuery('get', '/api/v1/webhooks/events', {
    params: { query: { page_size: 100 } },
  });
  // An event that is newer than the texts is described by the service.
  const describe = (event: string, description: string): string => {
    const key = `event_texts.${event.replace('.', '_')}` as 'event_texts.drift_detected';
    const isKnown: boolean = i18n.exists(key, { ns: 'delivery/webhooks' });
    return isKnown ? t(key) : description;
  };
  if (catalogue.error) return <ErrorAlert error={catalogue.error} />;
  if (!catalogue.data) return <Loading />;
  // The test is sent on request only.
  const events = catalogue.data.data.filter(({ event }) => event !== 'test');
  return (
    <Stack gap="xs">
      <Checkbox.Group
        label={t('events')}
        withAsterisk
        value={value}
        onChange={(next) =>
          onChange(
            events.map(({ event }) => event as EventName).filter((event) => next.includes(event)),
          )
        }
        error={error}
      >
        <Stack gap="xs" mt={4} mb={4}>
          {events.map(({ event, description }) => (
            <Checkbox
              key={event}
              value={event}
              label={
                <Text span size="sm" ff="monospace">
                  {event}
                </Text>
              }
              description={describe(event, description)}
            />
          ))}
        </Stack>
      </Checkbox.Group>
      <Samples events={events} />
    </Stack>
  );
}

function Samples({ events }: { events: Schemas['WebhookEvent'][] }) {
  const { t } = useTranslation('delivery/webhooks');
  const [sampleOf, setSampleOf] = useState<string>();
  const sample = events.find(({ event }) => event === sampleOf)?.sample;
  return (
    <>
      <Text size="sm">{t('sample_of')}</Text>
      <Group gap={6}>
        {events.map(({ event }) => (
          <Button
            key={event}
            size="compact-sm"
            fw={400}
            variant={event === sampleOf ? 'light' : 'default'}
            aria-pressed={event === sampleOf}
            ff="monospace"
            onClick={() => setSampleOf(event === sampleOf ? undefined : event)}
          >
            {event}
          </Button>
        ))}
      </Group>
      {sample && (
        <CodeBlock
          label={t('sample', { event: sampleOf })}
          code={JSON.stringify(sample, null, 2)}
          maxHeight={220}
        />
      )}
    </>
  );
}
