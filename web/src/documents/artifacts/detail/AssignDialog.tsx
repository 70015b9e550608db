import {
  Button,
  Group,
  MultiSelect,
  SegmentedControl,
  Select,
  Stack,
  TextInput,
} from '@mantine/core';
import { useState } from 'react';
import { toPeopleOptions, usePeople } from '@/identity/pickers';
import { Dialog } from '@/kit/components/Dialog';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { EditedRecord } from '@/kit/forms/EditedRecord';
import { fieldError, otherError } from '@/kit/forms/fieldErrors';
import { fromLocal, toLocal } from '@/kit/forms/times';
import { Unsaved, useIsChanged } from '@/kit/forms/unsaved';
import { roleMay } from '@/kit/session/may';
import { type Artifact, refreshDocuments } from '../useDocuments';

interface Props {
  row: Artifact;
  opened: boolean;
  close: () => void;
}

export function AssignDialog({ row, opened, close }: Props) {
  const { t } = useTranslation('documents/artifacts');
  return (
    <Dialog opened={opened} onClose={close} title={t('assign.title')}>
      <EditedRecord latest={row}>{(record) => <Form row={record} close={close} />}</EditedRecord>
    </Dialog>
  );
}

interface Chosen {
  kind: 'users' | 'team';
  team: string | null;
  users: string[];
}

/** Returns the body's assignees: no team means nobody, whoever was chosen among the people. */
export function toAssignees({ kind, team, users }: Chosen) {
  if (kind === 'users') return { user_ids: users };
  return team === null ? { user_ids: [] } : { team_id: team };
}

function useAssignment(row: Artifact) {
  const [team, setTeam] = useState(row.assignees.find(({ team_id }) => team_id)?.team_id ?? null);
  const [users, setUsers] = useState(row.assignees.flatMap(({ user_id }) => user_id ?? []));
  const [kind, setKind] = useState<'users' | 'team'>(team === null ? 'users' : 'team');
  const [due, setDue] = useState(toLocal(row.due_at));
  const body = {
    ...toAssignees({ kind, team, users }),
    ...(due !== toLocal(row.due_at) && { due_at: fromLocal(due) }),
    revision: row.revision,
  };
  const isEmpty = kind === 'team' ? team === null : users.length === 0;
  return { team, setTeam, users, setUsers, kind, setKind, due, setDue, body, isEmpty };
}

function Form({ row, close }: Omit<Props, 'opened'>) {
  const { t } = useTranslation('documents/artifacts');
  const form = useAssignment(row);
  const isDirty = useIsChanged([form.kind, form.users, form.team, form.due]);
  const save = $api.useMutation('post', '/api/v1/artifacts/{artifact_id}/assign');
  const submit = () =>
    save.mutate(
      { params: { path: { artifact_id: row.id } }, body: form.body },
      { onSuccess: () => void refreshDocuments().then(close) },
    );
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      <Stack>
        <Unsaved isDirty={isDirty} />
        <SegmentedControl
          aria-label={t('assign.kind')}
          data={[
            { value: 'users', label: t('assign.people') },
            { value: 'team', label: t('assign.team') },
          ]}
          value={form.kind}
          onChange={(kind) => form.setKind(kind)}
        />
        <Assignees form={form} error={save.error} />
        <TextInput
          type="datetime-local"
          label={t('assign.due')}
          value={form.due}
          onChange={(event) => form.setDue(event.currentTarget.value)}
        />
        <ErrorAlert error={otherError(save.error, ['user_ids', 'team_id'])} />
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button type="submit" loading={save.isPending}>
            {form.isEmpty ? t('assign.release') : t('action.assign')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}

interface AssigneesProps {
  form: ReturnType<typeof useAssignment>;
  error: unknown;
}

function Assignees({ form, error }: AssigneesProps) {
  const { t } = useTranslation('documents/artifacts');
  const { members, teams } = usePeople();
  const people = toPeopleOptions(members.filter(({ role }) => roleMay(role, 'tag_sets:write')));
  return form.kind === 'users' ? (
    <MultiSelect
      label={t('assign.people')}
      description={t('assign.pool')}
      searchable
      data={people}
      value={form.users}
      onChange={form.setUsers}
      error={fieldError(error, 'user_ids')}
    />
  ) : (
    <Select
      label={t('assign.team')}
      description={t('assign.pool')}
      searchable
      clearable
      data={teams.map((team) => ({ value: team.id, label: team.name }))}
      value={form.team}
      onChange={form.setTeam}
      error={fieldError(error, 'team_id')}
    />
  );
}
