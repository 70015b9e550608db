import { NumberInput, Select, TagsInput, TextInput } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { SchemaSelect } from '@/schemas/artifact_schemas';
import {
  ATTRIBUTES,
  type Attribute,
  type Condition,
  fit,
  kindOf,
  METADATA,
  type Operator,
  operatorsOf,
  takesList,
  takesNoValue,
} from '../conditions';
import styles from './rule.module.css';

interface Props {
  condition: Condition;
  change: (condition: Condition) => void;
  /** The error at a member, or at the whole condition for ''. */
  errorOf: (member: string) => string | undefined;
  readOnly: boolean;
}

export function ConditionEditor(props: Props) {
  const { t } = useTranslation('workflow/routing_rules');
  const { condition, change, errorOf, readOnly } = props;
  const { attribute, operator } = condition;
  const isMetadata = attribute.startsWith(METADATA);
  const names = Object.keys(ATTRIBUTES) as Attribute[];
  return (
    <div className={styles.condition}>
      <Select
        aria-label={t('condition.attribute')}
        allowDeselect={false}
        disabled={readOnly}
        data={[
          ...names.map((value) => ({ value, label: t(`attribute.${value}`) })),
          { value: METADATA, label: t('attribute.metadata') },
        ]}
        value={isMetadata ? METADATA : attribute}
        onChange={(value) => change(fit({ ...condition, attribute: value ?? 'name', value: '' }))}
        error={errorOf('attribute') ?? errorOf('')}
      />
      {isMetadata && (
        <TextInput
          aria-label={t('condition.key')}
          placeholder={t('condition.key')}
          maxLength={100}
          value={attribute.slice(METADATA.length)}
          onChange={(event) =>
            change({ ...condition, attribute: METADATA + event.currentTarget.value })
          }
        />
      )}
      <Select
        aria-label={t('condition.operator')}
        allowDeselect={false}
        disabled={readOnly}
        data={operatorsOf(attribute).map((value) => ({
          value,
          label: t(`operator.${value}`),
        }))}
        value={operator}
        onChange={(value) => change(fit({ ...condition, operator: value as Operator }))}
        error={errorOf('operator')}
      />
      {!takesNoValue(operator) && <ValueInput {...props} />}
    </div>
  );
}

function ValueInput({ condition, change, errorOf, readOnly }: Props) {
  const { t } = useTranslation('workflow/routing_rules');
  const { attribute, operator, value } = condition;
  const common = { 'aria-label': t('condition.value'), error: errorOf('value') };
  const set = (next: string | string[]) => change({ ...condition, value: next });
  if (takesList(operator)) {
    return (
      <TagsInput
        {...common}
        placeholder={t('condition.values')}
        disabled={readOnly}
        value={Array.isArray(value) ? value : []}
        onChange={set}
      />
    );
  }
  const text = Array.isArray(value) ? (value[0] ?? '') : value;
  if (attribute === 'schema_id')
    return (
      <SchemaSelect
        {...common}
        disabled={readOnly}
        value={text || undefined}
        onChange={(id) => set(id ?? '')}
      />
    );
  if (kindOf(attribute) === 'number')
    return <NumberInput {...common} value={text} onChange={(next) => set(String(next))} />;
  return (
    <TextInput
      {...common}
      placeholder={operator === 'matches' ? t('condition.pattern') : t('condition.value')}
      dir="auto"
      value={text}
      onChange={(event) => set(event.currentTarget.value)}
    />
  );
}
