import { Group, Radio, Stack, Switch, Text, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { notifyDone } from '@/kit/components/notify';
import { Panel } from '@/kit/components/Panel';
import { useSaved } from '@/kit/forms/edited';
import { FormActions } from '@/kit/forms/FormActions';
import { Unsaved } from '@/kit/forms/unsaved';

type Preferences = Schemas['DeliveryPreferences'];

const FREQUENCIES = ['immediate', 'hourly', 'daily'] as const;
const NIGHT = { from: '22:00', to: '07:00' };

/** When emails are sent: at once or together, and not in the quiet hours. */
export function DeliveryPanel({ preferences }: { preferences: Preferences }) {
  const { t } = useTranslation('delivery/notification_preferences');
  const [frequency, setFrequency] = useState(preferences.email_frequency);
  const [quiet, setQuiet] = useState(preferences.quiet_hours);
  const [saved, setSaved] = useState(() => JSON.stringify([frequency, quiet]));
  const goOn = useSaved();
  const isDirty = JSON.stringify([frequency, quiet]) !== saved;
  const set = $api.useMutation('put', '/api/v1/notifications/delivery-preferences');
  const submit = () =>
    set.mutate(
      {
        body: {
          email_frequency: frequency,
          quiet_hours: quiet,
          revision: preferences.revision,
        },
      },
      {
        onSuccess: ({ data }) => {
          setSaved(JSON.stringify([frequency, quiet]));
          goOn(data.revision);
          notifyDone(t('delivery.saved'));
          void queryClient.invalidateQueries({
            queryKey: ['get', '/api/v1/notifications/delivery-preferences'],
          });
        },
      },
    );
  return (
    <Panel title={t('delivery.title')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack>
          <Unsaved isDirty={isDirty} />
          <Radio.Group
            label={t('delivery.frequency')}
            value={frequency}
            onChange={(next) => setFrequency(FREQUENCIES.find((one) => one === next) ?? frequency)}
          >
            <Stack gap={6} mt={4}>
              {FREQUENCIES.map((one) => (
                <Radio key={one} value={one} label={t(`delivery.${one}`)} />
              ))}
            </Stack>
          </Radio.Group>
          <QuietHours value={quiet} zone={preferences.time_zone} onChange={setQuiet} />
          <ErrorAlert error={set.error} />
          <FormActions submit={t('delivery.save')} loading={set.isPending} />
        </Stack>
      </form>
    </Panel>
  );
}

interface QuietProps {
  value: Preferences['quiet_hours'];
  zone: string;
  onChange: (value: Preferences['quiet_hours']) => void;
}

function QuietHours({ value, zone, onChange }: QuietProps) {
  const { t } = useTranslation('delivery/notification_preferences');
  return (
    <Stack gap="xs">
      <Switch
        label={t('delivery.quiet')}
        checked={value !== null}
        onChange={(event) => onChange(event.currentTarget.checked ? NIGHT : null)}
      />
      <Text size="xs" c="dimmed">
        {t('delivery.quiet_text', { zone })}
      </Text>
      {value !== null && (
        <Group gap="sm">
          {(['from', 'to'] as const).map((name) => (
            <TextInput
              key={name}
              type="time"
              label={t(`delivery.${name}`)}
              required
              value={value[name]}
              onChange={(event) => onChange({ ...value, [name]: event.currentTarget.value })}
            />
          ))}
        </Group>
      )}
    </Stack>
  );
}
