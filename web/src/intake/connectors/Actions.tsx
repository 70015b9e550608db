import { Alert, Button, Group, Menu, Stack, Text } from '@mantine/core';
import { Link, useNavigate } from '@tanstack/react-router';
import { Check, Pencil, PlugZap, Trash2, TriangleAlert, Zap } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ifMatch, randomKey } from '@/kit/api/idempotency';
import { isCalling } from '@/kit/api/queryClient';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loaded } from '@/kit/components/Loaded';
import { MoreMenu } from '@/kit/components/MoreMenu';
import { useKeys } from '@/kit/keys/keys';
import { refresh } from './refresh';
import type { Connector } from './values';

/** Crawl, test, edit and delete. */
export function Actions({ connector }: { connector: Connector }) {
  const { t } = useTranslation('intake/connectors');
  const [dialog, setDialog] = useState<'test' | 'delete'>();
  const crawl = useCrawl(connector);
  const close = () => setDialog(undefined);
  useKeys(t('one'), [
    { keys: 'c', text: t('crawl'), run: crawl.run },
    { keys: 't', text: t('test.title'), run: () => setDialog('test') },
  ]);
  return (
    <Stack gap="xs" align="flex-end">
      <Group gap="xs">
        <Button
          leftSection={<Zap size={16} />}
          loading={crawl.isPending}
          disabled={!connector.enabled}
          onClick={crawl.run}
        >
          {t('crawl')}
        </Button>
        <Button
          variant="default"
          leftSection={<PlugZap size={16} />}
          onClick={() => setDialog('test')}
        >
          {t('test.title')}
        </Button>
        <More connector={connector} remove={() => setDialog('delete')} />
      </Group>
      <ErrorAlert error={crawl.error} />
      {dialog === 'test' && <TestDialog connector={connector} close={close} />}
      {dialog === 'delete' && <DeleteDialog connector={connector} close={close} />}
    </Stack>
  );
}

const CRAWL = '/api/v1/connectors/{connector_id}/crawl';

function useCrawl(connector: Connector) {
  const crawl = $api.useMutation('post', CRAWL);
  const run = () => {
    if (isCalling(CRAWL)) return;
    crawl.mutate(
      {
        params: {
          path: { connector_id: connector.id },
          header: { 'Idempotency-Key': randomKey() },
        },
      },
      { onSettled: refresh },
    );
  };
  return { run, isPending: crawl.isPending, error: crawl.error };
}

function More({ connector, remove }: { connector: Connector; remove: () => void }) {
  const { t } = useTranslation('intake/connectors');
  return (
    <MoreMenu>
      <Menu.Item
        component={Link}
        to={`/connectors/${connector.id}/edit`}
        leftSection={<Pencil size={16} />}
      >
        {t('edit')}
      </Menu.Item>
      <Menu.Item leftSection={<Trash2 size={16} />} onClick={remove}>
        {t('delete')}
      </Menu.Item>
    </MoreMenu>
  );
}

interface DialogProps {
  connector: Connector;
  close: () => void;
}

function TestDialog({ connector, close }: DialogProps) {
  const { t } = useTranslation('intake/connectors');
  const query = $api.useQuery(
    'post',
    '/api/v1/connectors/{connector_id}/test',
    { params: { path: { connector_id: connector.id } } },
    { staleTime: 0, gcTime: 0, retry: false, refetchOnWindowFocus: false },
  );
  return (
    <Dialog title={t('test.title')} onClose={close}>
      <Loaded query={query}>
        {({ data }) =>
          data.ok ? (
            <Stack>
              <Alert color="teal" icon={<Check size={18} />} title={t('test.ok')}>
                {t('test.found', { count: data.entries.length })}
              </Alert>
              {data.entries.map((entry) => (
                <Text key={entry.path} size="sm" dir="auto">
                  {entry.path}
                </Text>
              ))}
            </Stack>
          ) : (
            <Alert
              color="red"
              icon={<TriangleAlert size={18} />}
              title={data.error && t(`test.errors.${data.error.kind}`)}
            >
              {data.error?.message}
            </Alert>
          )
        }
      </Loaded>
    </Dialog>
  );
}

function DeleteDialog({ connector, close }: DialogProps) {
  const { t } = useTranslation('intake/connectors');
  const navigate = useNavigate();
  const remove = $api.useMutation('delete', '/api/v1/connectors/{connector_id}');
  const confirm = () =>
    remove.mutate(
      {
        params: {
          path: { connector_id: connector.id },
          header: ifMatch(connector.revision),
        },
      },
      { onSuccess: () => void navigate({ to: '/connectors' }).then(refresh) },
    );
  return (
    <ConfirmDialog
      danger
      title={t('delete')}
      action={t('delete')}
      loading={remove.isPending}
      error={remove.error}
      onConfirm={confirm}
      onClose={close}
    >
      {t('delete_text', { name: connector.name })}
    </ConfirmDialog>
  );
}
