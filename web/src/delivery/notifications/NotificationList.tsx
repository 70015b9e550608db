import { Anchor, Button, Group, ScrollArea, Stack, Text, Title } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Entry } from './Entry';
import { LIST, useNotificationActions } from './useNotifications';
import classes from './NotificationList.module.css';

const SHOWN = 20;

/** The newest notifications of all organizations of the caller. */
export function NotificationList({ close }: { close: () => void }) {
  const { t } = useTranslation('delivery/notifications');
  const query = $api.useQuery('get', LIST, { params: { query: { page_size: SHOWN } } });
  const actions = useNotificationActions();
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
          loading={actions.isReadingAll}
          disabled={found.every(({ read_at: readAt }) => readAt !== null)}
          onClick={actions.readAll}
        >
          {t('read_all')}
        </Button>
      </Group>
      <ErrorAlert error={query.error ?? actions.error} />
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
            open={() => actions.open(notification) && close()}
          />
        ))}
      </ScrollArea.Autosize>
      <Anchor
        component={Link}
        to="/notifications"
        className={classes.all}
        size="sm"
        onClick={close}
      >
        {t('show_all')}
      </Anchor>
    </Stack>
  );
}
