import { ActionIcon, Group, Menu, Text } from '@mantine/core';
import { Ellipsis, Star, StarOff, UserMinus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { Person } from '@/identity/pickers';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { notifyDone, notifyError } from '@/kit/components/notify';
import { StatusBadge } from '@/kit/components/StatusBadge';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { useMay } from '@/kit/session/may';

type Row = Schemas['MemberWorkload'];

interface Props {
  team: Schemas['Team'];
  workload: Schemas['TeamWorkload'];
}

const FIGURES = ['open', 'overdue', 'to_label', 'to_review', 'labeled', 'reviewed'] as const;

export function WorkloadTable({ team, workload }: Props) {
  const { t } = useTranslation('identity/teams');
  const format = useFormat();
  const mayManage = useMay()('teams:manage');
  const columns: Column<Row>[] = [
    {
      key: 'name',
      title: t('people.name'),
      width: 240,
      heads: true,
      cell: ({ user, role }) => (
        <Group gap="xs" wrap="nowrap">
          <div>
            <Person user={user} />
          </div>
          {role === 'lead' && <StatusBadge tone="active">{t('lead')}</StatusBadge>}
        </Group>
      ),
    },
    ...FIGURES.map((name): Column<Row> => ({
      key: name,
      title: t(`people.${name}`),
      align: 'end',
      cell: (row) => (
        <Text
          size="sm"
          {...(name === 'overdue' &&
            row.overdue > 0 && { c: 'var(--mantine-color-error)', fw: 600 })}
        >
          {format.number(row[name])}
        </Text>
      ),
    })),
  ];
  if (mayManage)
    columns.push({
      key: 'actions',
      title: t('people.actions'),
      align: 'end',
      cell: (row) => <Actions team={team} row={row} />,
    });
  return (
    <DataTable<Row>
      label={t('people.title')}
      columns={columns}
      rows={workload.members}
      rowKey={({ user }) => user.id}
      minWidth={720}
    />
  );
}

function useActions(team: Schemas['Team'], { user }: Row) {
  const { t } = useTranslation('identity/teams');
  const add = $api.useMutation('post', '/api/v1/teams/{team_id}/members');
  const remove = $api.useMutation('delete', '/api/v1/teams/{team_id}/members/{user_id}');
  const onError = notifyError;
  const refresh = () => void queryClient.invalidateQueries();
  const setRole = (next: 'lead' | 'member') =>
    add.mutate(
      {
        params: { path: { team_id: team.id } },
        body: { members: [{ user_id: user.id, role: next }] },
      },
      { onSuccess: refresh, onError },
    );
  const drop = () =>
    remove.mutate(
      { params: { path: { team_id: team.id, user_id: user.id } } },
      {
        onSuccess: () => {
          refresh();
          notifyDone(t('people.removed', { name: user.name }));
        },
        onError,
      },
    );
  return { setRole, drop, isPending: add.isPending || remove.isPending };
}

function Actions({ team, row }: { team: Schemas['Team']; row: Row }) {
  const { t } = useTranslation('identity/teams');
  const { user, role } = row;
  const { setRole, drop, isPending } = useActions(team, row);
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          loading={isPending}
          aria-label={t('people.menu', { name: user.name })}
        >
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {role === 'lead' ? (
          <Menu.Item leftSection={<StarOff size={16} />} onClick={() => setRole('member')}>
            {t('people.end_lead')}
          </Menu.Item>
        ) : (
          <Menu.Item leftSection={<Star size={16} />} onClick={() => setRole('lead')}>
            {t('people.make_lead')}
          </Menu.Item>
        )}
        <Menu.Item
          c="var(--mantine-color-error)"
          leftSection={<UserMinus size={16} />}
          onClick={drop}
        >
          {t('people.remove')}
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  );
}
