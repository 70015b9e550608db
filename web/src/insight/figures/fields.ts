import type { Schemas } from '@/kit/api/types';

type Field = Schemas['SchemaDetail']['fields'][number];

export interface FieldOption {
  value: string;
  label: string;
  type: string;
}

/** Returns the fields of a schema as the figures name them: columns of tables by `table.column`. */
export function listFields(fields: readonly Field[]): FieldOption[] {
  return fields.flatMap((field) => {
    if (field.columns.length === 0)
      return [{ value: field.key, label: field.label, type: field.type }];
    return field.columns.map((column) => ({
      value: `${field.key}.${column.key}`,
      label: `${field.label} › ${column.label}`,
      type: column.type,
    }));
  });
}
