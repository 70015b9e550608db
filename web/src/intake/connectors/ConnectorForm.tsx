import { Button, Checkbox, Group, Stack, Switch, TagsInput, TextInput } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Section } from '@/kit/components/Section';
import { fieldError, otherError } from '@/kit/forms/fieldErrors';
import { SchemaFields } from '@/kit/forms/SchemaFields';
import { Unsaved, useIsChanged } from '@/kit/forms/unsaved';
import { useSchemaForm } from '@/kit/forms/useSchemaForm';
import { parseCron } from '@/kit/schedules/cron';
import { ScheduleBuilder } from '@/kit/schedules/ScheduleBuilder';
import { useOrganizationTimeZone } from '@/kit/schedules/useOrganizationTimeZone';
import { SchemaSelect } from '@/schemas/artifact_schemas';
import type { Connector } from './values';

type Body = Omit<Schemas['CreateConnector'], 'type'>;

interface Props {
  connector?: Connector;
  info: Schemas['TypeOfConnector'];
  submitText: string;
  pending: boolean;
  error: unknown;
  onSubmit: (body: Body) => void;
}

const SHOWN = ['name', 'schema_id', 'schedule', 'include', 'exclude', 'enabled'];
const KINDS = ['minutes', 'hourly', 'daily', 'weekly', 'monthly', 'custom'] as const;

function useConnectorState({ connector, info }: Props) {
  const form = useSchemaForm(info.settings_schema, {
    settings: connector?.settings ?? {},
    stored: connector?.stored_secrets ?? [],
  });
  const [values, setValues] = useState({
    name: connector?.name ?? '',
    schema_id: connector?.schema_id ?? null,
    enabled: connector?.enabled ?? true,
    schedule: connector?.schedule ?? null,
    include: connector?.include ?? [],
    exclude: connector?.exclude ?? [],
  });
  const set = (changes: Partial<typeof values>) => setValues((now) => ({ ...now, ...changes }));
  return { form, values, set, isDirty: useIsChanged([values, form.values, form.chosen]) };
}

type State = ReturnType<typeof useConnectorState>;

/** The settings of a connector by the JSON Schema of its type, and what it crawls when. */
export function ConnectorForm(props: Props) {
  const { t } = useTranslation('intake/connectors');
  const { info, error, pending, submitText, onSubmit } = props;
  const state = useConnectorState(props);
  const { form, values, set } = state;
  const shown = [...SHOWN, ...form.fields.map(({ name }) => `settings.${name}`)];
  return (
    <form
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        const settings = form.submit();
        if (settings) onSubmit({ ...values, settings });
      }}
    >
      <Stack gap="lg">
        <Unsaved isDirty={state.isDirty} />
        <TextInput
          label={t('name')}
          withAsterisk
          dir="auto"
          value={values.name}
          onChange={(event) => set({ name: event.currentTarget.value })}
          error={fieldError(error, 'name')}
        />
        <Section title={t('settings')}>
          <SchemaFields
            form={form}
            context={info.type}
            errorOf={(name) => fieldError(error, `settings.${name}`)}
          />
        </Section>
        <SelectionFields state={state} error={error} />
        <ScheduleFields state={state} error={error} />
        <Switch
          label={t('enabled')}
          description={t('enabled_hint')}
          checked={values.enabled}
          onChange={(event) => set({ enabled: event.currentTarget.checked })}
        />
        <ErrorAlert error={otherError(error, shown)} />
        <Group>
          <Button type="submit" loading={pending}>
            {submitText}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function SelectionFields({ state, error }: { state: State; error: unknown }) {
  const { t } = useTranslation('intake/connectors');
  const { values, set } = state;
  return (
    <Section title={t('documents')}>
      <TagsInput
        label={t('include')}
        description={t('include_hint')}
        placeholder="*.pdf"
        acceptValueOnBlur
        value={values.include}
        onChange={(include) => set({ include })}
        error={fieldError(error, 'include')}
      />
      <TagsInput
        label={t('exclude')}
        description={t('exclude_hint')}
        acceptValueOnBlur
        value={values.exclude}
        onChange={(exclude) => set({ exclude })}
        error={fieldError(error, 'exclude')}
      />
      <SchemaSelect
        label={t('schema')}
        placeholder={t('any_schema')}
        description={t('schema_hint')}
        only="active"
        value={values.schema_id}
        onChange={(id) => set({ schema_id: id ?? null })}
        error={fieldError(error, 'schema_id')}
      />
    </Section>
  );
}

function ScheduleFields({ state, error }: { state: State; error: unknown }) {
  const { t } = useTranslation('intake/connectors');
  const timeZone = useOrganizationTimeZone();
  const { values, set } = state;
  const { schedule } = values;
  const [isCustom, setCustom] = useState(
    () => schedule !== null && parseCron(schedule).kind === 'custom',
  );
  return (
    <Section title={t('schedule')}>
      <Checkbox
        label={t('scheduled')}
        checked={schedule !== null}
        onChange={(event) => set({ schedule: event.currentTarget.checked ? '0 6 * * *' : null })}
      />
      {schedule !== null && (
        <ScheduleBuilder
          value={schedule}
          onChange={(cron) => set({ schedule: cron })}
          timeZone={timeZone}
          isCustom={isCustom}
          setCustom={setCustom}
          kinds={KINDS}
          error={fieldError(error, 'schedule')}
        />
      )}
    </Section>
  );
}
