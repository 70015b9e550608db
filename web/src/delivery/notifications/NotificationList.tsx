import { Button, Group, ScrollArea, Stack, Text, Title, UnstyledButton } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useRouter } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { findTarget } from '@/identity/mail_links';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { useFormat } from '@/kit/i18n/format';
import { currentOrganization, joinPath } from '@/kit/session/organization';
import classes from './NotificationList.module.css';

type Notification = Schemas['Notification'];

const SHOWN = 20;
const LIST = '/api/v1/notifications';

/** Returns the address of what a notification is about, in its own organization. */
function addressOf({ link, organization }: Notification): string | undefined {
  if (link === null) return undefined;
  const [path = '', query] = link.replace(/^\/api\/v1\//, '').split('?');
  return joinPath(organization.slug, findTarget(path, query));
}

function Entry({ notification, open }: { notification: Notification; open: () => void }) {
  const { t } = useTranslation('delivery/notifications');
  const { relative } = useFormat();
  const { title, body, organization, updated_at: updatedAt, read_at: readAt, count } = notification;
  const isElsewhere = organization.slug !== currentOrganization();
  return (
    <UnstyledButton
      className={classes.entry}
      onClick={open}
      data-unread={readAt === null || undefined}
    >
      <Text size="sm" fw={readAt === null ? 600 : 400} dir="auto">
        {title}
        {count > 1 && ` (${count})`}
      </Text>
      {body !== '' && (
        <Text size="xs" lineClamp={2} dir="auto">
          {body}
        </Text>
      )}
      <Text size="xs" c="dimmed">
        {readAt === null && `${t('new')} · `}
        {relative(updatedAt)}
        {isElsewhere && ` · ${organization.name}`}
      </Text>
    </UnstyledButton>
  );
}

/** The newest notifications of all organizations of the caller. */
export function NotificationList({ close }: { close: () => void }) {
  const { t } = useTranslation('delivery/notifications');
  const router = useRouter();
  const client = useQueryClient();
  const query = $api.useQuery('get', LIST, { params: { query: { page_size: SHOWN } } });
  const refresh = () =>
    client.invalidateQueries({
      predicate: ({ queryKey }) => String(queryKey[1]).startsWith(LIST),
    });
  const read = $api.useMutation('post', '/api/v1/notifications/{notification_id}/read', {
    onSuccess: refresh,
  });
  const readAll = $api.useMutation('post', '/api/v1/notifications/read-all', {
    onSuccess: refresh,
  });
  const open = (notification: Notification) => {
    if (notification.read_at === null)
      read.mutate({ params: { path: { notification_id: notification.id } } });
    const address = addressOf(notification);
    if (address === undefined) return;
    close();
    router.history.push(address);
  };
  const found = query.data?.data ?? [];
  return (
    <Stack gap={0}>
      <Group justify="space-between" p="xs" wrap="nowrap">
        <Title order={2} size="h6">
          {t('title')}
        </Title>
        <Button
          size="compact-xs"
          variant="subtle"
          loading={readAll.isPending}
          disabled={found.every(({ read_at: readAt }) => readAt !== null)}
          onClick={() => readAll.mutate({})}
        >
          {t('read_all')}
        </Button>
      </Group>
      <ErrorAlert error={query.error ?? read.error ?? readAll.error} />
      {query.isPending && <Loading />}
      {query.isSuccess && found.length === 0 && (
        <Text size="sm" c="dimmed" p="md" ta="center">
          {t('none')}
        </Text>
      )}
      <ScrollArea.Autosize mah={420}>
        {found.map((notification) => (
          <Entry
            key={notification.id}
            notification={notification}
            open={() => open(notification)}
          />
        ))}
      </ScrollArea.Autosize>
    </Stack>
  );
}
