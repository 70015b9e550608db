import { Checkbox, Fieldset, Group, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { constraintsOf, type DraftField, type FieldType, keyAfter, TYPES } from '../model';
import { ConstraintsForm } from './ConstraintsForm';
import { OptionsForm } from './OptionsForm';

export interface FieldFormProps {
  field: DraftField;
  isColumn: boolean;
  /** The keys beside it, its own included. */
  taken: readonly string[];
  /** The keys beside it that are in use since the schema was published. */
  published: readonly string[];
  change: (changes: Partial<DraftField>) => void;
  /** The error of the API at a member, such as `key` or `constraints.min`. */
  errorOf: (member: string) => string | undefined;
  readOnly: boolean;
}

function NameInputs({ field, taken, published, change, errorOf }: FieldFormProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const others = taken.filter((key) => key !== field.key);
  const isDuplicate = taken.filter((key) => key === field.key).length > 1;
  return (
    <Group grow align="flex-start">
      <TextInput
        label={t('field.label')}
        value={field.label}
        maxLength={200}
        dir="auto"
        onChange={({ currentTarget: { value } }) =>
          change({ label: value, key: keyAfter(field, value, { others, published }) })
        }
        error={errorOf('label')}
      />
      <TextInput
        label={t('field.key')}
        value={field.key}
        maxLength={64}
        dir="ltr"
        required
        onChange={(event) => change({ key: event.currentTarget.value })}
        error={errorOf('key') ?? (isDuplicate && t('field.key_taken'))}
      />
    </Group>
  );
}

export function FieldForm(props: FieldFormProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { field, isColumn, change, errorOf, readOnly } = props;
  const types = TYPES.filter((type) => !isColumn || type !== 'table');
  return (
    <Fieldset variant="unstyled" disabled={readOnly} aria-label={field.label || field.key}>
      <Stack gap="sm">
        <NameInputs {...props} />
        <Select
          label={t('field.type')}
          allowDeselect={false}
          disabled={readOnly}
          data={types.map((type) => ({ value: type, label: t(`type.${type}`) }))}
          value={field.type}
          onChange={(type) => change({ type: type as FieldType })}
          description={t(`type_hint.${field.type}`)}
          error={errorOf('type')}
        />
        <Textarea
          label={t('field.description')}
          description={t('field.description_hint')}
          autosize
          minRows={2}
          dir="auto"
          value={field.description}
          onChange={(event) => change({ description: event.currentTarget.value })}
          error={errorOf('description')}
        />
        <Switches field={field} change={change} />
        {field.type === 'choice' && <OptionsForm {...props} />}
        {constraintsOf(field.type).length > 0 && <ConstraintsForm {...props} />}
      </Stack>
    </Fieldset>
  );
}

function Switches({ field, change }: Pick<FieldFormProps, 'field' | 'change'>) {
  const { t } = useTranslation('schemas/artifact_schemas');
  return (
    <Group gap="lg">
      <Checkbox
        label={t('field.required')}
        checked={field.required}
        onChange={(event) => change({ required: event.currentTarget.checked })}
      />
      {field.type !== 'table' && (
        <Checkbox
          label={t('field.multiple')}
          checked={field.multiple}
          onChange={(event) => change({ multiple: event.currentTarget.checked })}
        />
      )}
      <Checkbox
        label={t('field.ai_assist')}
        checked={field.ai_assist}
        onChange={(event) => change({ ai_assist: event.currentTarget.checked })}
      />
    </Group>
  );
}
