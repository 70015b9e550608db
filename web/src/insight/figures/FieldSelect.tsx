import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { listFields, type FieldOption } from './fields';

/** Returns the fields of a schema. */
export function useFields(schemaId: string | undefined): FieldOption[] {
  const { data } = $api.useQuery(
    'get',
    '/api/v1/schemas/{schema_id}',
    { params: { path: { schema_id: schemaId ?? '' } } },
    { enabled: schemaId !== undefined, staleTime: 60_000 },
  );
  return listFields(data?.data.fields ?? []);
}

interface Props extends Omit<SelectProps, 'data' | 'value' | 'onChange' | 'defaultValue'> {
  schemaId: string | undefined;
  value: string | undefined;
  onChange: (field: string | undefined) => void;
  /** Only fields of these types. */
  types?: readonly string[];
}

export function FieldSelect({ schemaId, value, onChange, types, ...rest }: Props) {
  const { t } = useTranslation('insight/figures');
  const fields = useFields(schemaId).filter(({ type }) => !types || types.includes(type));
  return (
    <Select
      label={t('field')}
      placeholder={t('all_fields')}
      nothingFoundMessage={t('nothing_found')}
      clearable
      {...rest}
      searchable
      limit={100}
      disabled={schemaId === undefined}
      data={fields.map((field) => ({ value: field.value, label: field.label }))}
      value={value ?? null}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}
