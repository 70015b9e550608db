import { ActionIcon, Indicator, Popover } from '@mantine/core';
import { Bell as BellIcon } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { pollEvery } from '@/kit/api/polling';
import { useKeys } from '@/kit/keys/keys';
import { NotificationList } from './NotificationList';

const REFRESH_MILLISECONDS = 60_000;
const MOST = 99;

export function Bell() {
  const { t } = useTranslation('delivery/notifications');
  const [opened, setOpened] = useState(false);
  const toggle = () => setOpened((shown) => !shown);
  const query = $api.useQuery(
    'get',
    '/api/v1/notifications/unread-count',
    {},
    { refetchInterval: (polled) => pollEvery(polled, REFRESH_MILLISECONDS) },
  );
  const count = query.data?.data.unread ?? 0;
  useKeys(t('title'), [{ keys: 'b', text: t('open'), run: toggle }]);
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-end"
      width="min(22.5rem, calc(100vw - 1rem))"
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          size="lg"
          aria-label={count === 0 ? t('title') : t('unread', { count })}
          onClick={toggle}
        >
          <Indicator
            label={count > MOST ? `${MOST}+` : count}
            size={16}
            color="red.9"
            disabled={count === 0}
          >
            <BellIcon size={18} />
          </Indicator>
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown p={0} maw="100vw" aria-label={t('title')}>
        <NotificationList close={() => setOpened(false)} />
      </Popover.Dropdown>
    </Popover>
  );
}
