import type { ComponentProps } from 'react';
import { useTranslation } from 'react-i18next';
import { SchemaSelect as AnySchemaSelect } from '@/schemas/artifact_schemas';

/** Chooses a schema that has been published; without one, figures are about all. */
export function SchemaSelect(props: ComponentProps<typeof AnySchemaSelect>) {
  const { t } = useTranslation('insight/figures');
  return (
    <AnySchemaSelect
      only="published"
      label={t('schema')}
      placeholder={t('all_schemas')}
      {...props}
    />
  );
}
