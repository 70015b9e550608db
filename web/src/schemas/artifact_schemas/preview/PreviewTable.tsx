import { Button, Input, Table, Text } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { DraftField } from '../model';
import { PreviewInput } from './PreviewInput';
import styles from './preview.module.css';

export function PreviewTable({ field }: { field: DraftField }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const [rows, setRows] = useState(2);
  return (
    <Input.Wrapper
      label={field.label || field.key}
      description={field.description}
      withAsterisk={field.required}
      labelElement="div"
    >
      {/* A region that scrolls must be reachable with the keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div className={styles.scroll} tabIndex={0} role="group" aria-label={field.label}>
        <Table withRowBorders={false} horizontalSpacing={4} verticalSpacing={4}>
          <Table.Thead>
            <Table.Tr>
              {field.columns.map((column) => (
                <Table.Th key={column.uid} miw={110} fz="xs">
                  {column.label || column.key}
                  {column.required && ' *'}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {Array.from({ length: rows }, (_, row) => (
              <Table.Tr key={row}>
                {field.columns.map((column) => (
                  <Table.Td key={column.uid}>
                    <PreviewInput field={column} bare />
                  </Table.Td>
                ))}
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </div>
      {field.columns.length === 0 ? (
        <Text size="sm" c="dimmed">
          {t('preview.no_columns')}
        </Text>
      ) : (
        <Button
          variant="subtle"
          size="compact-xs"
          leftSection={<Plus size={12} aria-hidden />}
          onClick={() => setRows(rows + 1)}
        >
          {t('preview.add_row')}
        </Button>
      )}
    </Input.Wrapper>
  );
}
