import { Button, Group, Radio, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { RequestFields, readRequest, toBody, useExportRequest } from '@/delivery/exports';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Section } from '@/kit/components/Section';
import { fieldError, otherError } from '@/kit/forms/fieldErrors';
import { TimeZoneSelect } from '@/kit/forms/TimeZoneSelect';
import { Unsaved, useIsChanged } from '@/kit/forms/unsaved';
import { ScheduleBuilder } from '@/kit/schedules/ScheduleBuilder';
import { parseCron } from '@/kit/schedules/cron';
import { DestinationFields, useDestination } from './DestinationFields';

type Body = Schemas['CreateScheduledExport'];

interface Props {
  scheduled?: Schemas['ScheduledExport'];
  timeZone: string;
  submitText: string;
  pending: boolean;
  error: unknown;
  /** Gets everything, and only what has changed. */
  onSubmit: (all: Body, changes: Schemas['UpdateScheduledExport']) => void;
}

const SHOWN = [
  ...['name', 'cron', 'time_zone', 'mode', 'destination'],
  ...['format', 'options', 'filter', 'include'],
];
const MODES = ['full', 'incremental'] as const;

const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

function useScheduleState({ scheduled, timeZone }: Props) {
  const [start] = useState(() => scheduled && readRequest(scheduled));
  const { request, set } = useExportRequest(start);
  const [name, setName] = useState(scheduled?.name ?? '');
  const [cron, setCron] = useState(scheduled?.cron ?? '0 6 * * 1');
  const [isCustom, setCustom] = useState(() => parseCron(cron).kind === 'custom');
  const [chosenZone, setZone] = useState(scheduled?.time_zone);
  // The zone of the organization may be read after the form is shown.
  const zone = chosenZone ?? timeZone;
  const [mode, setMode] = useState<Body['mode']>(scheduled?.mode ?? 'full');
  const destination = useDestination(scheduled?.destination);
  const isDirty = useIsChanged([request, name, cron, chosenZone, mode, destination.typed()]);
  const collect = (): [Body, Schemas['UpdateScheduledExport']] | undefined => {
    const target = destination.submit();
    if (target === undefined) return undefined;
    const content = toBody(request);
    const own = { name, cron, time_zone: zone, mode };
    const isContentSame = start !== undefined && isSame(content, toBody(start));
    const all = { ...own, ...content, destination: target };
    const { filter = {}, options = {}, include = {} } = content;
    const changes = {
      ...own,
      ...(!isContentSame && { format: content.format, filter, options, include }),
      ...(destination.isChanged() && { destination: target }),
    };
    return [all, changes];
  };
  return {
    ...{ request, set, name, setName, cron, setCron, isCustom, setCustom },
    ...{ zone, setZone, mode, setMode, destination, collect, isDirty },
  };
}

export function ScheduleForm(props: Props) {
  const { t } = useTranslation('delivery/scheduled_exports');
  const { error, pending, submitText, onSubmit } = props;
  const state = useScheduleState(props);
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const collected = state.collect();
        if (collected) onSubmit(...collected);
      }}
    >
      <Stack gap="lg">
        <Unsaved isDirty={state.isDirty} />
        <TextInput
          label={t('name')}
          withAsterisk
          dir="auto"
          value={state.name}
          onChange={(event) => state.setName(event.currentTarget.value)}
          error={fieldError(error, 'name')}
        />
        <TimeFields state={state} error={error} />
        <RequestFields request={state.request} set={state.set} error={error} />
        <Section title={t('destination')}>
          <DestinationFields destination={state.destination} error={error} />
        </Section>
        <ErrorAlert error={otherError(error, SHOWN)} />
        <Group>
          <Button type="submit" loading={pending}>
            {submitText}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface TimeProps {
  state: ReturnType<typeof useScheduleState>;
  error: unknown;
}

function TimeFields({ state, error }: TimeProps) {
  const { t } = useTranslation('delivery/scheduled_exports');
  return (
    <Section title={t('when')}>
      <ScheduleBuilder
        value={state.cron}
        onChange={state.setCron}
        timeZone={state.zone}
        isCustom={state.isCustom}
        setCustom={state.setCustom}
        error={fieldError(error, 'cron')}
      />
      <TimeZoneSelect
        value={state.zone}
        onChange={state.setZone}
        error={fieldError(error, 'time_zone')}
      />
      <Radio.Group
        label={t('mode')}
        value={state.mode ?? 'full'}
        onChange={(value) => state.setMode(MODES.find((one) => one === value) ?? 'full')}
        error={fieldError(error, 'mode')}
      >
        <Stack gap="xs" mt={4}>
          {MODES.map((one) => (
            <Radio
              key={one}
              value={one}
              label={t(`modes.${one}`)}
              description={t(`mode_hints.${one}`)}
            />
          ))}
        </Stack>
      </Radio.Group>
    </Section>
  );
}
