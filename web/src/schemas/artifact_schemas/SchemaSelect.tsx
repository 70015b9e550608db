import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useSchemaList } from './lookup';

interface Props extends Omit<SelectProps, 'data' | 'onChange' | 'value' | 'defaultValue'> {
  value: string | null | undefined;
  onChange: (id: string | undefined) => void;
  /** Only schemas that are open for labeling, or that have a published version. */
  only?: 'active' | 'published';
}

/** Chooses a schema of the organization by a part of its name. */
export function SchemaSelect({ value, onChange, only, ...rest }: Props) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { schemas } = useSchemaList();
  const data = schemas
    .filter(
      (schema) =>
        schema.id === value ||
        ((only !== 'active' || schema.status === 'active') &&
          (only !== 'published' || schema.current_version !== null)),
    )
    .map((schema) => ({ value: schema.id, label: schema.name }));
  return (
    <Select
      searchable
      clearable
      limit={100}
      nothingFoundMessage={t('no_schema')}
      {...rest}
      data={data}
      value={value ?? null}
      onChange={(id) => onChange(id ?? undefined)}
    />
  );
}
