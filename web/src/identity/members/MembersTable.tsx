import { ActionIcon, Badge, Group, Menu, Text } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { DoorOpen, Ellipsis, UserCog, UserMinus } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Person } from '@/identity/pickers';
import type { Schemas } from '@/kit/api/types';
import { useFormat } from '@/kit/i18n/format';
import type { Column } from '@/kit/lists/columns';
import { DataTable } from '@/kit/lists/DataTable';
import { RemoveMember } from './RemoveMember';
import { mayRemove, rolesToGive } from './rights';
import { RoleDialog } from './RoleDialog';
import type { MembersSearch } from './routes';
import { useCaller } from './useCaller';

type Member = Schemas['Member'];
export type MemberAction = { kind: 'role' | 'remove'; member: Member };

interface Props {
  members: readonly Member[];
  sort: NonNullable<MembersSearch['sort']>;
  onSort: (sort: MembersSearch['sort']) => void;
}

function useColumns(onAction: (action: MemberAction) => void): Column<Member>[] {
  const { t } = useTranslation('identity/members');
  const { t: tKit } = useTranslation();
  const format = useFormat();
  const caller = useCaller();
  return [
    {
      key: 'name',
      title: t('columns.name'),
      sort: 'name',
      heads: true,
      cell: ({ user }) => (
        <Group gap="xs" wrap="nowrap">
          <div>
            <Person user={user} />
          </div>
          {user.id === caller?.id && (
            <Badge size="sm" variant="default">
              {t('you')}
            </Badge>
          )}
        </Group>
      ),
    },
    {
      key: 'role',
      title: t('columns.role'),
      cell: ({ role }) => <Text size="sm">{tKit(`roles.${role}`)}</Text>,
    },
    {
      key: 'teams',
      title: t('columns.teams'),
      cell: ({ teams }) => <Teams teams={teams} />,
    },
    {
      key: 'joined',
      title: t('columns.joined'),
      sort: 'joined_at',
      cell: ({ joined_at }) => (
        <Text size="sm" style={{ whiteSpace: 'nowrap' }}>
          {format.date(joined_at)}
        </Text>
      ),
    },
    {
      key: 'actions',
      title: t('columns.actions'),
      align: 'end',
      cell: (member) => <Actions member={member} onAction={onAction} />,
    },
  ];
}

export function MembersTable({ members, sort, onSort }: Props) {
  const { t } = useTranslation('identity/members');
  const [action, setAction] = useState<MemberAction>();
  const columns = useColumns(setAction);
  const done = () => setAction(undefined);
  // It may be read again while the dialog is open.
  const member = members.find(({ user }) => user.id === action?.member.user.id) ?? action?.member;
  return (
    <>
      <DataTable<Member>
        label={t('title')}
        rows={members}
        rowKey={({ user }) => user.id}
        sort={sort}
        onSort={(next) => onSort(next as MembersSearch['sort'])}
        columns={columns}
      />
      {member && action?.kind === 'role' && <RoleDialog member={member} onClose={done} />}
      {member && action?.kind === 'remove' && <RemoveMember member={member} onClose={done} />}
    </>
  );
}

function Teams({ teams }: { teams: Member['teams'] }) {
  return (
    <Group gap={4}>
      {teams.map(({ id, name }) => (
        <Badge
          key={id}
          component={Link}
          to={`/teams/${id}`}
          size="sm"
          variant="default"
          tt="none"
          fw={400}
          style={{ cursor: 'pointer' }}
        >
          <span dir="auto">{name}</span>
        </Badge>
      ))}
    </Group>
  );
}

interface ActionsProps {
  member: Member;
  onAction: (action: MemberAction) => void;
}

function Actions({ member, onAction }: ActionsProps) {
  const { t } = useTranslation('identity/members');
  const caller = useCaller();
  if (!caller) return null;
  const other = { id: member.user.id, role: member.role };
  const roles = rolesToGive(caller, other);
  const self = caller.id === other.id;
  if (roles.length < 2 && !mayRemove(caller, other)) return null;
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon
          variant="subtle"
          color="gray"
          aria-label={t('menu.open', { name: member.user.name })}
        >
          <Ellipsis size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        {roles.length > 1 && (
          <Menu.Item
            leftSection={<UserCog size={16} />}
            onClick={() => onAction({ kind: 'role', member })}
          >
            {t('menu.role')}
          </Menu.Item>
        )}
        {mayRemove(caller, other) && (
          <Menu.Item
            c="var(--mantine-color-error)"
            leftSection={self ? <DoorOpen size={16} /> : <UserMinus size={16} />}
            onClick={() => onAction({ kind: 'remove', member })}
          >
            {self ? t('menu.leave') : t('menu.remove')}
          </Menu.Item>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}
