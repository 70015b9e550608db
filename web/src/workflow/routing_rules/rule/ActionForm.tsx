import { Select, SimpleGrid } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { AssigneeSelect } from '@/identity/pickers';
import { IntegerInput } from '@/kit/forms/IntegerInput';
import { SchemaSelect } from '@/schemas/artifact_schemas';
import type { Action } from '../useRules';

interface Props {
  action: Action;
  change: (action: Action) => void;
  errorOf: (field: string) => string | undefined;
  readOnly: boolean;
}

const STRATEGIES = ['everyone', 'round_robin', 'least_loaded', 'skills'] as const;
const MOST_HOURS = 8760;
const orNull = (value: number | '') => (value === '' ? null : value);

export function ActionForm({ action, change, errorOf, readOnly }: Props) {
  const { t } = useTranslation('workflow/routing_rules');
  return (
    <SimpleGrid cols={{ base: 1, xs: 2 }} spacing="sm" verticalSpacing="xs">
      <AssigneeSelect
        label={t('form.assignee')}
        description={t('form.assignee_hint')}
        disabled={readOnly}
        value={action.user_id ?? action.team_id ?? undefined}
        onChange={(id, kind) =>
          change({
            ...action,
            user_id: kind === 'user' ? (id ?? null) : null,
            team_id: kind === 'team' ? (id ?? null) : null,
          })
        }
        error={errorOf('action.user_id') ?? errorOf('action.team_id') ?? errorOf('action')}
      />
      {action.team_id && <StrategySelect {...{ action, change, errorOf, readOnly }} />}
      <IntegerInput
        label={t('form.priority')}
        description={t('form.unchanged')}
        min={0}
        max={100}
        value={action.priority ?? ''}
        onChange={(value) => change({ ...action, priority: orNull(value) })}
        error={errorOf('action.priority')}
      />
      <IntegerInput
        label={t('form.due')}
        description={t('form.unchanged')}
        min={0}
        max={MOST_HOURS}
        value={action.due_in_hours ?? ''}
        onChange={(value) => change({ ...action, due_in_hours: orNull(value) })}
        error={errorOf('action.due_in_hours')}
      />
      <SchemaSelect
        label={t('form.schema')}
        description={t('form.unchanged')}
        disabled={readOnly}
        value={action.schema_id ?? undefined}
        onChange={(id) => change({ ...action, schema_id: id ?? null })}
        error={errorOf('action.schema_id')}
      />
    </SimpleGrid>
  );
}

function StrategySelect({ action, change, errorOf, readOnly }: Props) {
  const { t } = useTranslation('workflow/routing_rules');
  return (
    <Select
      label={t('form.strategy')}
      description={t('form.strategy_hint')}
      allowDeselect={false}
      disabled={readOnly}
      data={STRATEGIES.map((value) => ({ value, label: t(`strategy.${value}`) }))}
      value={action.strategy ?? 'everyone'}
      onChange={(strategy) => change({ ...action, strategy: strategy ?? 'everyone' })}
      error={errorOf('action.strategy')}
    />
  );
}
