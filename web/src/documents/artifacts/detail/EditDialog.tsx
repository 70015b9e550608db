import { Button, Checkbox, Group, Stack, TextInput } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { Dialog } from '@/kit/components/Dialog';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { showAtField } from '@/kit/forms/fieldErrors';
import { IntegerInput } from '@/kit/forms/IntegerInput';
import { fromLocal, toLocal } from '@/kit/forms/times';
import { Unsaved } from '@/kit/forms/unsaved';
import { SchemaSelect } from '@/schemas/artifact_schemas';
import { type Artifact, refreshDocuments } from '../useDocuments';
import { fromPairs, toPairs } from './metadata';
import { MetadataInput } from './MetadataInput';

interface Props {
  row: Artifact;
  opened: boolean;
  close: () => void;
}

export function EditDialog({ row, opened, close }: Props) {
  const { t } = useTranslation('documents/artifacts');
  return (
    <Dialog opened={opened} onClose={close} title={t('edit.title')} size="lg">
      <EditedRecord latest={row}>{(record) => <Form row={record} close={close} />}</EditedRecord>
    </Dialog>
  );
}

function toValues(row: Artifact) {
  return {
    name: row.name,
    schema_id: row.schema_id ?? undefined,
    external_id: row.external_id ?? '',
    priority: row.priority as number | '',
    due_at: toLocal(row.due_at),
    gold: row.gold ?? false,
    metadata: toPairs(row.metadata),
  };
}

type Values = ReturnType<typeof toValues>;

/** Sends only what was changed, so that nothing else is overwritten. */
export function toBody(values: Values, row: Artifact) {
  const before = toValues(row);
  const changed = (name: keyof Values) =>
    JSON.stringify(values[name]) !== JSON.stringify(before[name]);
  return {
    revision: row.revision,
    ...(changed('name') && { name: values.name }),
    ...(changed('schema_id') && { schema_id: values.schema_id ?? null }),
    ...(changed('external_id') && { external_id: values.external_id || null }),
    ...(changed('priority') && { priority: Number(values.priority) }),
    ...(changed('due_at') && { due_at: fromLocal(values.due_at) }),
    ...(changed('gold') && { gold: values.gold }),
    ...(changed('metadata') && { metadata: fromPairs(values.metadata) }),
  };
}

function Form({ row, close }: Omit<Props, 'opened'>) {
  const { t } = useTranslation('documents/artifacts');
  const save = $api.useMutation('patch', '/api/v1/artifacts/{artifact_id}');
  const form = useForm<Values>({ initialValues: toValues(row) });
  const submit = form.onSubmit((values) =>
    save.mutate(
      { params: { path: { artifact_id: row.id } }, body: toBody(values, row) },
      {
        onSuccess: () => void refreshDocuments().then(close),
        onError: (error) => showAtField(form, error),
      },
    ),
  );
  return (
    <form onSubmit={submit}>
      <Stack>
        <Unsaved isDirty={form.isDirty()} />
        <TextInput
          label={t('column.name')}
          required
          maxLength={255}
          dir="auto"
          {...form.getInputProps('name')}
        />
        <WorkInputs form={form} />
        <TextInput
          label={t('fact.external_id')}
          maxLength={255}
          {...form.getInputProps('external_id')}
        />
        <MetadataInput
          value={form.values.metadata}
          onChange={(pairs) => form.setFieldValue('metadata', pairs)}
          error={form.errors['metadata']}
        />
        <Checkbox label={t('edit.gold')} {...form.getInputProps('gold', { type: 'checkbox' })} />
        {Object.keys(form.errors).length === 0 && <ErrorAlert error={save.error} />}
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {t('save')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

function WorkInputs({ form }: { form: UseFormReturnType<Values> }) {
  const { t } = useTranslation('documents/artifacts');
  return (
    <>
      <SchemaSelect
        label={t('fact.schema')}
        value={form.values.schema_id}
        onChange={(id) => form.setFieldValue('schema_id', id)}
        error={form.errors['schema_id']}
      />
      <Group grow align="flex-start">
        <IntegerInput
          label={t('column.priority')}
          description={t('priority_hint')}
          required
          min={0}
          max={100}
          {...form.getInputProps('priority')}
        />
        <TextInput
          type="datetime-local"
          label={t('column.due')}
          description={t('edit.due_hint')}
          {...form.getInputProps('due_at')}
        />
      </Group>
    </>
  );
}
