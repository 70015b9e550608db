import { Select } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';

interface Props {
  value: string | null;
  onChange: (schemaId: string | null) => void;
  label: string;
  description?: string;
  error?: string | undefined;
  /** Only those that documents can get. */
  activeOnly?: boolean;
}

/** The schemas of the organization, found by typing. */
export function SchemaPicker({ activeOnly, ...props }: Props) {
  const { t } = useTranslation('kit/pickers');
  const schemas = useSchemas(activeOnly ?? false);
  return (
    <Select
      {...props}
      searchable
      clearable
      placeholder={t('any_schema')}
      nothingFoundMessage={t('no_schema')}
      data={(schemas ?? []).map(({ id, name }) => ({ value: id, label: name }))}
    />
  );
}

function useSchemas(activeOnly: boolean) {
  const schemas = $api.useQuery('get', '/api/v1/schemas', {
    params: {
      query: { sort: 'name', page_size: 200, ...(activeOnly && { status: 'active' }) },
    },
  });
  return schemas.data?.data;
}

/** The name of a schema. */
export function SchemaName({ schemaId }: { schemaId: string }) {
  const found = useSchemas(false)?.find(({ id }) => id === schemaId);
  return <span dir="auto">{found?.name ?? schemaId}</span>;
}
