import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useSchemas } from './useSchemas';

interface Props extends Omit<SelectProps, 'data' | 'value' | 'onChange' | 'defaultValue'> {
  value: string | undefined;
  onChange: (schemaId: string | undefined) => void;
}

/** Chooses a schema that has been published. */
export function SchemaSelect({ value, onChange, ...rest }: Props) {
  const { t } = useTranslation('insight/figures');
  const schemas = useSchemas();
  return (
    <Select
      label={t('schema')}
      placeholder={t('all_schemas')}
      nothingFoundMessage={t('nothing_found')}
      clearable
      {...rest}
      searchable
      limit={100}
      data={schemas.map(({ id, name }) => ({ value: id, label: name }))}
      value={value ?? null}
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}
