import { Checkbox } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { NOTIFICATION_KINDS } from '@/delivery/notifications';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { notifyError } from '@/kit/components/notify';
import { Panel } from '@/kit/components/Panel';
import { DataTable } from '@/kit/lists/DataTable';

type Preferences = Schemas['NotificationPreferences'];
type Channel = 'in_app' | 'email';
type Kind = (typeof NOTIFICATION_KINDS)[number];

const CHANNELS: readonly Channel[] = ['in_app', 'email'];

/** Which kinds of notification come in which way. A change is saved at once. */
export function ChannelsPanel({ preferences }: { preferences: Preferences }) {
  const { t } = useTranslation('delivery/notification_preferences');
  const { t: tNotifications } = useTranslation('delivery/notifications');
  const nameKind = (kind: Kind) => tNotifications(`kinds.${kind}`);
  const update = $api.useMutation('patch', '/api/v1/users/me/notification-preferences');
  const change = (kind: Kind, channel: Channel, value: boolean) =>
    update.mutate(
      { body: { [kind]: { [channel]: value } } },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries({ queryKey: ['get', '/api/v1/users/me'] });
        },
        onError: notifyError,
      },
    );
  return (
    <Panel title={t('channels.title')}>
      <DataTable<Kind>
        label={t('channels.title')}
        rows={NOTIFICATION_KINDS}
        rowKey={(kind) => kind}
        minWidth={220}
        columns={[
          {
            key: 'kind',
            title: t('channels.kind'),
            heads: true,
            cell: (kind) => nameKind(kind),
          },
          ...CHANNELS.map((channel) => ({
            key: channel,
            title: t(`channels.${channel}`),
            width: 84,
            cell: (kind: Kind) => (
              <Checkbox
                aria-label={t('toggle', {
                  kind: nameKind(kind),
                  channel: t(`channels.${channel}`),
                })}
                checked={preferences[kind][channel]}
                disabled={update.isPending}
                onChange={(event) => change(kind, channel, event.currentTarget.checked)}
              />
            ),
          })),
        ]}
      />
    </Panel>
  );
}
