import {
  Checkbox,
  Group,
  Input,
  MultiSelect,
  NumberInput,
  Select,
  TagsInput,
  Textarea,
  TextInput,
} from '@mantine/core';
import { SquareDashed, TextSelect } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { IntegerInput } from '@/kit/forms/IntegerInput';
import type { DraftField } from '../model';
import styles from './preview.module.css';

interface Common {
  label?: string;
  'aria-label'?: string;
  description?: string;
  withAsterisk: boolean;
}

/** One input of the form. In a table the header says the label. */
export function PreviewInput({ field, bare = false }: { field: DraftField; bare?: boolean }) {
  const label = field.label || field.key;
  const common: Common = {
    ...(bare ? { 'aria-label': label } : { label }),
    ...(!bare && field.description !== '' && { description: field.description }),
    withAsterisk: !bare && field.required,
  };
  if (field.type === 'span' || field.type === 'region')
    return <TakeFromPage field={field} common={common} />;
  if (field.type === 'choice') return <ChoiceInput field={field} common={common} />;
  if (field.multiple) return <TagsInput {...common} />;
  return <SingleInput field={field} common={common} />;
}

interface Props {
  field: DraftField;
  common: Common;
}

function ChoiceInput({ field, common }: Props) {
  // A select refuses the same value twice.
  const options = new Map(field.options.map(({ value, label }) => [value, label || value]));
  const data = [...options].map(([value, label]) => ({ value, label }));
  return field.multiple ? (
    <MultiSelect {...common} data={data} />
  ) : (
    <Select {...common} data={data} clearable />
  );
}

function TakeFromPage({ field, common }: Props) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const isSpan = field.type === 'span';
  const Icon = isSpan ? TextSelect : SquareDashed;
  return (
    <Input.Wrapper {...common} labelElement="div">
      <div className={styles.take}>
        <Icon size={16} aria-hidden />
        {t(isSpan ? 'preview.span' : 'preview.region')}
      </div>
    </Input.Wrapper>
  );
}

const NATIVE = { date: 'date', time: 'time', datetime: 'datetime-local' } as const;
const TYPED = { email: 'email', phone: 'tel', url: 'url' } as const;

function SingleInput({ field, common }: Props) {
  const { type } = field;
  switch (type) {
    case 'number':
      return <NumberInput {...common} />;
    case 'integer':
      return <IntegerInput {...common} />;
    case 'money':
      return <MoneyInput field={field} common={common} />;
    case 'boolean':
      return <BooleanInput common={common} />;
    case 'address':
      return <Textarea {...common} autosize minRows={2} />;
    case 'date':
    case 'time':
    case 'datetime':
      return <TextInput {...common} type={NATIVE[type]} />;
    case 'email':
    case 'phone':
    case 'url':
      return <TextInput {...common} type={TYPED[type]} />;
    default:
      return <TextInput {...common} dir="auto" />;
  }
}

function BooleanInput({ common: { withAsterisk, label, ...rest } }: { common: Common }) {
  return <Checkbox {...rest} label={withAsterisk && label ? `${label} *` : label} />;
}

function MoneyInput({ field, common }: Props) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const allowed = field.constraints['currencies'];
  const currencies = Array.isArray(allowed) ? allowed.map(String) : ['EUR', 'USD', 'GBP'];
  return (
    <Group gap={6} align="flex-end" wrap="nowrap">
      <NumberInput {...common} flex={1} decimalScale={2} />
      <Select
        aria-label={t('preview.currency')}
        w={96}
        data={[...new Set(currencies)]}
        defaultValue={currencies[0] ?? null}
      />
    </Group>
  );
}
