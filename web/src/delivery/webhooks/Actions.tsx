import { Button, Menu } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { History, KeyRound, Pause, Pencil, Send, Trash2 } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { randomKey } from '@/kit/api/idempotency';
import { MoreMenu } from '@/kit/components/MoreMenu';
import { notifyError } from '@/kit/components/notify';
import { useKeys } from '@/kit/keys/keys';
import { DeactivateDialog, DeleteDialog } from './dialogs';
import { EditDialog } from './EditDialog';
import { ReplayDialog } from './ReplayDialog';
import { RotateDialog } from './RotateDialog';
import { refresh } from './refresh';
import { type Details, isReplaying } from './values';

type Dialog = 'edit' | 'replay' | 'rotate' | 'deactivate' | 'delete';

/** Sends a test, and opens it among the deliveries. */
function useTest(webhookId: string) {
  const navigate = useNavigate();
  const test = $api.useMutation('post', '/api/v1/webhooks/{webhook_id}/test');
  const run = () =>
    test.mutate(
      {
        params: {
          path: { webhook_id: webhookId },
          header: { 'Idempotency-Key': randomKey() },
        },
      },
      {
        onSuccess: ({ data }) => {
          refresh();
          void navigate({
            to: '/integrations/webhooks/$webhookId',
            params: { webhookId },
            search: { delivery: data.id },
          });
        },
        onError: notifyError,
      },
    );
  return { run, isPending: test.isPending };
}

/** What can be done with a webhook. */
export function Actions({ webhook }: { webhook: Details }) {
  const { t } = useTranslation('delivery/webhooks');
  const [dialog, setDialog] = useState<Dialog>();
  const test = useTest(webhook.id);
  const close = () => setDialog(undefined);
  useKeys(t('webhook'), [
    { keys: 't', text: t('test'), run: test.run },
    { keys: 'e', text: t('edit'), run: () => setDialog('edit') },
  ]);
  return (
    <>
      <Button
        variant="default"
        leftSection={<Send size={16} />}
        loading={test.isPending}
        onClick={test.run}
      >
        {t('test')}
      </Button>
      <Button
        variant="default"
        leftSection={<Pencil size={16} />}
        onClick={() => setDialog('edit')}
      >
        {t('edit')}
      </Button>
      <More webhook={webhook} open={setDialog} />
      {dialog === 'edit' && <EditDialog webhook={webhook} close={close} />}
      {dialog === 'replay' && <ReplayDialog webhook={webhook} close={close} />}
      {dialog === 'rotate' && <RotateDialog webhook={webhook} close={close} />}
      {dialog === 'deactivate' && <DeactivateDialog webhook={webhook} close={close} />}
      {dialog === 'delete' && <DeleteDialog webhook={webhook} close={close} />}
    </>
  );
}

function More({ webhook, open }: { webhook: Details; open: (dialog: Dialog) => void }) {
  const { t } = useTranslation('delivery/webhooks');
  return (
    <MoreMenu>
      {webhook.active && (
        <Menu.Item
          leftSection={<History size={16} />}
          disabled={isReplaying(webhook)}
          onClick={() => open('replay')}
        >
          {t('replay.start')}
        </Menu.Item>
      )}
      <Menu.Item leftSection={<KeyRound size={16} />} onClick={() => open('rotate')}>
        {t('rotate')}
      </Menu.Item>
      {webhook.active && (
        <Menu.Item leftSection={<Pause size={16} />} onClick={() => open('deactivate')}>
          {t('deactivate')}
        </Menu.Item>
      )}
      <Menu.Divider />
      <Menu.Item leftSection={<Trash2 size={16} />} onClick={() => open('delete')}>
        {t('delete')}
      </Menu.Item>
    </MoreMenu>
  );
}
