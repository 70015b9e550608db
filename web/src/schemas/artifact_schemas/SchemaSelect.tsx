import { Select, type SelectProps } from '@mantine/core';
import { useSchemaList } from './lookup';

type Props = Omit<SelectProps, 'data' | 'onChange' | 'value'> & {
  value: string | undefined;
  onChange: (id: string | undefined) => void;
  /** Only schemas that are open for labeling. */
  active?: boolean;
};

export function SchemaSelect({ value, onChange, active, ...rest }: Props) {
  const { schemas } = useSchemaList();
  const data = schemas
    .filter((schema) => !active || schema.status === 'active' || schema.id === value)
    .map((schema) => ({ value: schema.id, label: schema.name }));
  return (
    <Select
      searchable
      clearable
      {...rest}
      data={data}
      value={value ?? null}
      onChange={(id) => onChange(id ?? undefined)}
    />
  );
}
