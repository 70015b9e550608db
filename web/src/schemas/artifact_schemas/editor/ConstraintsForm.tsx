import { MultiSelect, NumberInput, SimpleGrid, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { IntegerInput } from '@/kit/forms/IntegerInput';
import { type Constraints, constraintsOf } from '../model';
import { TEXT_FORMATS } from './textFormats';
import type { FieldFormProps } from './FieldForm';

interface InputProps {
  name: string;
  type: FieldFormProps['field']['type'];
  value: unknown;
  set: (value: unknown) => void;
  error: string | undefined;
  disabled: boolean;
}

const NATIVE = { date: 'date', time: 'time' } as const;
const list = (value: unknown) => (Array.isArray(value) ? value.map(String) : []);
const scalar = (value: unknown) =>
  typeof value === 'string' || typeof value === 'number' ? value : '';

export function ConstraintsForm({ field, change, errorOf, readOnly }: FieldFormProps) {
  const set = (changes: Constraints) =>
    change({ constraints: { ...field.constraints, ...changes } });
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="xs">
      {constraintsOf(field.type).map((name) => (
        <ConstraintInput
          key={name}
          name={name}
          type={field.type}
          value={field.constraints[name]}
          set={(value) => set({ [name]: value })}
          error={errorOf(`constraints.${name}`)}
          disabled={readOnly}
        />
      ))}
    </SimpleGrid>
  );
}

function ConstraintInput(props: InputProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { name, value, set, error, disabled } = props;
  switch (name) {
    case 'min_length':
    case 'max_length':
      return (
        <IntegerInput
          label={t(`constraint.${name}`)}
          min={0}
          value={scalar(value)}
          onChange={set}
          error={error}
        />
      );
    case 'pattern':
      return (
        <TextInput
          label={t('constraint.pattern')}
          description={t('constraint.pattern_hint')}
          ff="monospace"
          dir="ltr"
          value={scalar(value)}
          onChange={(event) => set(event.currentTarget.value)}
          error={error}
        />
      );
    case 'currencies':
      return (
        <TagsInput
          label={t('constraint.currencies')}
          placeholder="EUR"
          disabled={disabled}
          value={list(value)}
          onChange={(codes) => set(codes.map((code) => code.toUpperCase()))}
          error={error}
        />
      );
    case 'formats':
      return <FormatsInput {...props} />;
    default:
      return <LimitInput {...props} />;
  }
}

function FormatsInput({ type, value, set, error, disabled }: InputProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  if (type === 'phone') {
    return (
      <TagsInput
        label={t('constraint.countries')}
        placeholder="DE"
        disabled={disabled}
        value={list(value)}
        onChange={(codes) => set(codes.map((code) => code.toUpperCase()))}
        error={error}
      />
    );
  }
  return (
    <MultiSelect
      label={t('constraint.formats')}
      searchable
      disabled={disabled}
      data={TEXT_FORMATS}
      value={list(value)}
      onChange={set}
      error={error}
    />
  );
}

/** `min` and `max`, as the type writes its values. */
function LimitInput({ name, type, value, set, error }: InputProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const label = t(name === 'min' ? 'constraint.min' : 'constraint.max');
  if (type === 'date' || type === 'time') {
    return (
      <TextInput
        label={label}
        type={NATIVE[type]}
        value={scalar(value)}
        onChange={(event) => set(event.currentTarget.value)}
        error={error}
      />
    );
  }
  if (type === 'datetime') {
    return (
      <TextInput
        label={label}
        placeholder="2026-01-31T12:00:00Z"
        value={scalar(value)}
        onChange={(event) => set(event.currentTarget.value)}
        error={error}
      />
    );
  }
  const Input = type === 'integer' ? IntegerInput : NumberInput;
  return <Input label={label} value={scalar(value)} onChange={set} error={error} />;
}
