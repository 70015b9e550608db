import { Group, NativeSelect, Stack, Text, TextInput } from '@mantine/core';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { IntegerInput } from '@/kit/forms/IntegerInput';
import { useFormat } from '@/kit/i18n/format';
import {
  changeKind,
  nextRuns,
  parseCron,
  type Schedule,
  type ScheduleKind,
  toCron,
  zoneName,
} from './cron';
import { DaysPicker } from './DaysPicker';
import { useScheduleWords } from './useScheduleWords';

interface Props {
  value: string;
  onChange: (cron: string) => void;
  timeZone: string;
  error: string | undefined;
  /** Stays while the expression has a simple form. */
  isCustom: boolean;
  setCustom: (isCustom: boolean) => void;
  /** Offers runs within an hour. */
  kinds?: readonly ScheduleKind[];
}

const KINDS = ['hourly', 'daily', 'weekly', 'monthly', 'custom'] as const;

/** Chooses when something runs, and says it in words with the next times. */
export function ScheduleBuilder(props: Props) {
  const { t } = useTranslation('kit/schedules');
  const { value, onChange, timeZone, isCustom, setCustom, kinds = KINDS } = props;
  const parsed = parseCron(value);
  const isShown = !isCustom && kinds.includes(parsed.kind);
  const schedule: Schedule = isShown ? parsed : { kind: 'custom', cron: value };
  const set = (next: Schedule) => onChange(toCron(next));
  return (
    <Stack gap="xs">
      <Group align="flex-end" gap="sm">
        <NativeSelect
          label={t('repeats')}
          value={schedule.kind}
          data={kinds.map((kind) => ({ value: kind, label: t(`kinds.${kind}`) }))}
          onChange={(event) => {
            const kind = kinds.find((one) => one === event.currentTarget.value);
            if (!kind) return;
            setCustom(kind === 'custom');
            set(changeKind(parsed, kind));
          }}
        />
        <Details schedule={schedule} set={set} error={props.error} />
      </Group>
      {schedule.kind === 'weekly' && (
        <DaysPicker days={schedule.days} onChange={(days) => set({ ...schedule, days })} />
      )}
      {schedule.kind !== 'custom' && props.error !== undefined && (
        <Text size="xs" c="var(--mantine-color-error)">
          {props.error}
        </Text>
      )}
      <NextRuns cron={value} timeZone={timeZone} />
    </Stack>
  );
}

interface DetailsProps {
  schedule: Schedule;
  set: (schedule: Schedule) => void;
  error: string | undefined;
}

function Details({ schedule, set, error }: DetailsProps) {
  const { t } = useTranslation('kit/schedules');
  return (
    <>
      {schedule.kind === 'monthly' && (
        <IntegerInput
          label={t('day')}
          min={1}
          max={31}
          w={90}
          value={schedule.day}
          onChange={(day) => day !== '' && set({ ...schedule, day })}
        />
      )}
      {schedule.kind === 'hourly' && (
        <IntegerInput
          label={t('minute')}
          min={0}
          max={59}
          w={90}
          value={schedule.minute}
          onChange={(minute) => minute !== '' && set({ ...schedule, minute })}
        />
      )}
      {'time' in schedule && (
        <TextInput
          label={t('time')}
          type="time"
          required
          value={schedule.time}
          onChange={({ currentTarget: { value: time } }) => time && set({ ...schedule, time })}
        />
      )}
      {schedule.kind === 'custom' && (
        <TextInput
          label={t('cron')}
          description={t('cron_hint')}
          ff="monospace"
          required
          value={schedule.cron}
          error={error}
          onChange={(event) => set({ kind: 'custom', cron: event.currentTarget.value })}
        />
      )}
    </>
  );
}

/** The schedule in words, and its next three times on the clock of its zone. */
export function NextRuns({ cron, timeZone }: { cron: string; timeZone: string }) {
  const { t } = useTranslation('kit/schedules');
  const { locale } = useFormat();
  const words = useScheduleWords();
  const runs = useMemo(() => nextRuns(cron, timeZone, 3), [cron, timeZone]);
  const format = new Intl.DateTimeFormat(locale, {
    ...{ weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit' },
    ...{ minute: '2-digit', timeZone },
  } as const);
  if (!runs)
    return (
      <Text size="sm" c="dimmed">
        {t('unknown')}
      </Text>
    );
  return (
    <div>
      <Text size="sm" fw={500}>
        {words(cron, timeZone)}
      </Text>
      <Text size="xs" c="dimmed">
        {t('next', {
          times: runs.map((run) => format.format(run)).join(' · '),
          zone: zoneName(timeZone),
        })}
      </Text>
    </div>
  );
}
