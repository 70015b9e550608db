import { SegmentedControl, Stack, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { SchemaField } from './SchemaField';
import type { SchemaForm } from './useSchemaForm';

interface Props {
  form: SchemaForm;
  /** Chooses texts, such as `s3` for its `prefix`. */
  context: string;
  /** Returns the message of the service for a field. */
  errorOf: (name: string) => string | undefined;
}

/** The fields of a JSON Schema. */
export function SchemaFields({ form, context, errorOf }: Props) {
  const { t } = useTranslation('kit/forms');
  const { choice } = form.form;
  const before = form.fields.findIndex(({ name }) => name === form.chosen);
  const show = (fields: typeof form.fields) =>
    fields.map((field) => (
      <SchemaField
        key={field.name}
        field={field}
        context={context}
        value={form.values[field.name]}
        isStored={form.stored.includes(field.name)}
        error={form.problemText(field.name) ?? errorOf(field.name)}
        onChange={(value) => form.set(field.name, value)}
      />
    ));
  if (choice.length < 2) return <Stack>{show(form.fields)}</Stack>;
  return (
    <Stack>
      {show(form.fields.slice(0, before))}
      <Stack gap={4}>
        <Text size="sm" fw={500} aria-hidden>
          {t('one_of')}
        </Text>
        <SegmentedControl
          size="xs"
          aria-label={t('one_of')}
          style={{ alignSelf: 'flex-start' }}
          value={form.chosen ?? ''}
          data={choice.map((name) => ({
            value: name,
            label: form.titleOf(name, context),
          }))}
          onChange={form.choose}
        />
      </Stack>
      {show(form.fields.slice(before))}
    </Stack>
  );
}
