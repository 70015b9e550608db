import {
  Checkbox,
  NativeSelect,
  PasswordInput,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { IntegerInput } from './IntegerInput';
import type { Field, FieldValue } from './schema';
import { useFieldTexts } from './useFieldTexts';

interface Props {
  field: Field;
  context: string;
  value: FieldValue | undefined;
  /** The service has this secret; an empty entry keeps it. */
  isStored: boolean;
  error: string | undefined;
  onChange: (value: FieldValue) => void;
}

function fallbackText({ fallback }: Field): string {
  return typeof fallback === 'string' || typeof fallback === 'number' ? `${fallback}` : '';
}

const optionLabel = (option: string, tab: string) => (option === '\t' ? tab : option);

/** One property of a JSON Schema as an input. */
export function SchemaField({ field, context, value, isStored, error, onChange }: Props) {
  const { t } = useTranslation('kit/forms');
  const texts = useFieldTexts();
  const fallback = fallbackText(field);
  const common = {
    label: texts.title(field, context),
    description: texts.description(field, context),
    error,
    name: field.name,
  };
  const entry = {
    ...common,
    withAsterisk: field.required && field.fallback === undefined && !isStored,
    placeholder: isStored ? t('stored') : fallback,
  };
  const content = typeof value === 'string' ? value : '';
  switch (field.kind) {
    case 'boolean':
      return (
        <Checkbox
          {...common}
          checked={typeof value === 'boolean' ? value : field.fallback === true}
          onChange={(event) => onChange(event.currentTarget.checked)}
        />
      );
    case 'number':
      return (
        <IntegerInput
          {...entry}
          value={typeof value === 'number' ? value : ''}
          onChange={onChange}
        />
      );
    case 'option':
      return (
        <OptionField field={field} entry={common} value={content || fallback} onChange={onChange} />
      );
    case 'list':
      return (
        <TagsInput
          {...entry}
          placeholder={t('add')}
          value={Array.isArray(value) ? value : []}
          splitChars={['\n', ' ']}
          acceptValueOnBlur
          onChange={onChange}
        />
      );
    default:
      return <TextField field={field} entry={entry} value={content} onChange={onChange} />;
  }
}

interface TextProps {
  field: Field;
  entry: Record<string, unknown>;
  value: string;
  onChange: (value: string) => void;
}

function TextField({ field, entry, value, onChange }: TextProps) {
  const shared = { ...entry, value, dir: 'auto', autoComplete: 'off', spellCheck: false };
  if (field.kind === 'long')
    return (
      <Textarea
        {...shared}
        autosize
        minRows={3}
        maxRows={8}
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  if (field.kind === 'secret')
    return (
      <PasswordInput
        {...shared}
        autoComplete="new-password"
        onChange={(event) => onChange(event.currentTarget.value)}
      />
    );
  return <TextInput {...shared} onChange={(event) => onChange(event.currentTarget.value)} />;
}

function OptionField({ field, entry, value, onChange }: TextProps) {
  const { t } = useTranslation('kit/forms');
  return (
    <NativeSelect
      {...entry}
      data={field.options.map((one) => ({ value: one, label: optionLabel(one, t('tab')) }))}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  );
}
