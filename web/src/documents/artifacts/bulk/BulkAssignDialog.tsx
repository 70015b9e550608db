import { Button, Group, Select, Stack, TextInput } from '@mantine/core';
import { useState } from 'react';
import { AssigneeSelect } from '@/identity/pickers';
import { Dialog } from '@/kit/components/Dialog';
import { useTranslation } from 'react-i18next';
import { fromLocal } from '@/kit/forms/times';
import { assignMany, type Assignment, type BulkResult, type Target } from './bulk';

interface Props {
  opened: boolean;
  close: () => void;
  count: number;
  target: Target;
  run: (action: () => Promise<BulkResult>) => void;
}

const STRATEGIES = ['everyone', 'round_robin', 'least_loaded'] as const;

export function BulkAssignDialog({ opened, close, count, target, run }: Props) {
  const { t } = useTranslation('documents/artifacts');
  return (
    <Dialog opened={opened} onClose={close} title={t('bulk.assign_title', { count })}>
      <Form submit={(assignment) => run(() => assignMany(target, assignment))} />
    </Dialog>
  );
}

function Form({ submit }: { submit: (assignment: Assignment) => void }) {
  const { t } = useTranslation('documents/artifacts');
  const [assignment, setAssignment] = useState<Assignment>({
    kind: undefined,
    id: undefined,
    strategy: 'everyone',
    due_at: undefined,
  });
  const change = (changes: Partial<Assignment>) => setAssignment({ ...assignment, ...changes });
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault();
        submit(assignment);
      }}
    >
      <Stack>
        <AssigneeSelect
          label={t('assign.to')}
          description={t('assign.pool')}
          value={assignment.id}
          onChange={(id, kind) => change({ id, kind })}
          data-autofocus
        />
        {assignment.kind === 'team' && (
          <Select
            label={t('assign.strategy')}
            allowDeselect={false}
            data={STRATEGIES.map((value) => ({ value, label: t(`strategy.${value}`) }))}
            value={assignment.strategy}
            onChange={(strategy) => change({ strategy: strategy as Assignment['strategy'] })}
          />
        )}
        <TextInput
          type="datetime-local"
          label={t('assign.due')}
          description={t('assign.due_unchanged')}
          onChange={({ currentTarget: { value } }) =>
            change({ due_at: fromLocal(value) ?? undefined })
          }
        />
        <Group justify="flex-end">
          <Button type="submit">
            {assignment.id === undefined ? t('assign.release') : t('action.assign')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
