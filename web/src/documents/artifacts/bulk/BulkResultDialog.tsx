import { Alert, Button, Group, ScrollArea, Stack, Table, Text } from '@mantine/core';
import { CircleAlert, CircleCheck } from 'lucide-react';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Dialog } from '@/kit/components/Dialog';
import { useTranslation } from 'react-i18next';
import type { ArtifactSummary } from '../useDocuments';
import type { BulkResult } from './bulk';

interface Cached {
  pages?: { data?: ArtifactSummary[] }[];
}

/** Names of documents that a list has shown: the outcomes have only ids. */
function useNames(): Map<string, string> {
  const client = useQueryClient();
  const [names] = useState(() => {
    const lists = client.getQueriesData<Cached>({ queryKey: ['get', '/api/v1/artifacts'] });
    const rows = lists.flatMap(([, list]) => list?.pages?.flatMap((page) => page.data ?? []) ?? []);
    return new Map(rows.map((row) => [row.id, row.name]));
  });
  return names;
}

/** What came of an action, with the reason of each document that it failed for. */
export function BulkResultDialog({ result, close }: { result: BulkResult; close: () => void }) {
  const { t } = useTranslation('documents/artifacts');
  const names = useNames();
  const failures = result.outcomes.filter((outcome) => !outcome.ok);
  return (
    <Dialog onClose={close} title={t('bulk.result')} size="lg">
      <Stack>
        <Alert color="teal" icon={<CircleCheck size={18} />} role="status">
          {t('bulk.succeeded', { count: result.succeeded })}
        </Alert>
        {result.failed > 0 && (
          <Alert color="red" icon={<CircleAlert size={18} />} role="alert">
            {t('bulk.failed', { count: result.failed })}
          </Alert>
        )}
        {failures.length > 0 && (
          <ScrollArea.Autosize mah={320} type="auto">
            <Table>
              <Table.Thead>
                <Table.Tr>
                  <Table.Th>{t('column.name')}</Table.Th>
                  <Table.Th>{t('bulk.reason')}</Table.Th>
                </Table.Tr>
              </Table.Thead>
              <Table.Tbody>
                {failures.map((outcome) => (
                  <Table.Tr key={outcome.id}>
                    <Table.Td dir="auto">{names.get(outcome.id) ?? outcome.id}</Table.Td>
                    <Table.Td>{outcome.message}</Table.Td>
                  </Table.Tr>
                ))}
              </Table.Tbody>
            </Table>
          </ScrollArea.Autosize>
        )}
        {result.failed > failures.length && <Text size="sm">{t('bulk.more_failures')}</Text>}
        <Group justify="flex-end">
          <Button onClick={close} data-autofocus>
            {t('done')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
