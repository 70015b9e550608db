import { Alert, Grid, Stack, Table, Text, Title } from '@mantine/core';
import { CircleCheck, TriangleAlert } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { fromFields } from '../model';
import { FormPreview } from '../preview/FormPreview';

type Warning = Schemas['SchemaImportWarning'];

/** What could not be taken over from a file. */
export function Warnings({ warnings }: { warnings: readonly Warning[] }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  if (warnings.length === 0) return null;
  return (
    <Stack gap="xs">
      <Alert color="yellow" icon={<TriangleAlert size={18} />} role="status">
        {t('import.warnings', { count: warnings.length })}
      </Alert>
      <Table.ScrollContainer minWidth={280} mah={400}>
        <Table>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t('import.path')}</Table.Th>
              <Table.Th>{t('import.problem')}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {warnings.map(({ path, message }, index) => (
              <Table.Tr key={index}>
                <Table.Td ff="monospace" dir="ltr">
                  {path}
                </Table.Td>
                <Table.Td>{message}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </Stack>
  );
}

export function ImportReport({ result }: { result: Schemas['ImportedSchema'] }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  return (
    <Grid>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack gap="xs">
          <Title order={2} size="h4">
            {t('import.report')}
          </Title>
          {result.warnings.length === 0 && (
            <Alert color="teal" icon={<CircleCheck size={18} />} role="status">
              {t('import.complete')}
            </Alert>
          )}
          <Warnings warnings={result.warnings} />
        </Stack>
      </Grid.Col>
      <Grid.Col span={{ base: 12, md: 6 }}>
        <Stack gap="xs">
          <Title order={2} size="h4" dir="auto">
            {result.name}
          </Title>
          <Text size="sm" c="dimmed">
            {t('fields_count', { count: result.fields.length })}
          </Text>
          <FormPreview fields={fromFields(result.fields)} guidelines={result.guidelines} />
        </Stack>
      </Grid.Col>
    </Grid>
  );
}
