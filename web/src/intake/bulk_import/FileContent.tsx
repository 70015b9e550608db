import { Alert, Box, NativeSelect, Stack, Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { CodeBlock } from '@/kit/components/CodeBlock';
import { type CsvStart, type Target, TARGETS } from './csv';
import type { FilePreview } from './preview';

interface Props {
  preview: FilePreview;
  targets: readonly Target[];
  setTarget: (index: number, target: Target) => void;
}

/** What is in the file, as far as its beginning shows it. */
export function FileContent({ preview, targets, setTarget }: Props) {
  const { t } = useTranslation('intake/bulk_import');
  return (
    <Stack gap="sm">
      <Text size="sm">{t(`found.${preview.format}`)}</Text>
      {preview.csv && <Columns csv={preview.csv} targets={targets} setTarget={setTarget} />}
      {preview.records && preview.records.length > 0 && (
        <CodeBlock
          label={t('first_records')}
          code={preview.records.map((one) => JSON.stringify(one, null, 2)).join('\n')}
          maxHeight={260}
        />
      )}
      {preview.badLine !== undefined && (
        <Alert color="yellow">{t('bad_line', { line: preview.badLine })}</Alert>
      )}
    </Stack>
  );
}

interface ColumnsProps {
  csv: CsvStart;
  targets: readonly Target[];
  setTarget: (index: number, target: Target) => void;
}

const CHOICES = [...TARGETS, 'metadata'] as const;

function Columns({ csv, targets, setTarget }: ColumnsProps) {
  const { t } = useTranslation('intake/bulk_import');
  return (
    <Box tabIndex={0} role="group" aria-label={t('columns')} style={{ overflowX: 'auto' }}>
      <Table fz="xs" withTableBorder>
        <Table.Thead>
          <Table.Tr>
            {csv.columns.map((column, index) => (
              <Table.Th key={index} miw={130} style={{ verticalAlign: 'bottom' }}>
                <Text size="xs" fw={600} mb={4} dir="auto">
                  {column || t('unnamed', { number: index + 1 })}
                </Text>
                <NativeSelect
                  size="xs"
                  aria-label={t('becomes', { column })}
                  value={targets[index] ?? 'metadata'}
                  data={CHOICES.map((one) => ({
                    value: one,
                    label: t(`targets.${one}`),
                  }))}
                  onChange={({ currentTarget: { value } }) =>
                    setTarget(index, CHOICES.find((one) => one === value) ?? 'metadata')
                  }
                />
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {csv.rows.map((row, number) => (
            <Table.Tr key={number}>
              {csv.columns.map((_column, index) => (
                <Table.Td key={index} maw={240} dir="auto">
                  <Text size="xs" lineClamp={3}>
                    {row[index]}
                  </Text>
                </Table.Td>
              ))}
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Box>
  );
}
