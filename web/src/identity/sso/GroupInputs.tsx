import { ActionIcon, Button, Group, Stack, Switch, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Plus, Trash2 } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { RoleSelect, TeamSelect } from '@/identity/pickers';
import { Panel } from '@/kit/components/Panel';
import { SSO_ROLES } from './AccessInputs';
import type { GroupRow, Values } from './values';

/** Which role and team the groups of the provider give. */
export function GroupInputs({ form }: { form: UseFormReturnType<Values> }) {
  const { t } = useTranslation('identity/sso');
  const { groups } = form.values;
  const change = (next: GroupRow[]) => form.setFieldValue('groups', next);
  const add = () => {
    const key = Math.max(-1, ...groups.map((row) => row.key)) + 1;
    change([...groups, { key, group: '', role: undefined, team_id: undefined }]);
  };
  return (
    <Panel title={t('form.groups')} description={t('form.groups_text')}>
      <Stack gap="xs">
        {groups.map((row, index) => (
          <Row
            key={row.key}
            number={index + 1}
            row={row}
            onChange={(next) => change(groups.map((one) => (one.key === row.key ? next : one)))}
            onRemove={() => change(groups.filter((one) => one.key !== row.key))}
          />
        ))}
      </Stack>
      <Group>
        <Button variant="default" size="compact-md" leftSection={<Plus size={14} />} onClick={add}>
          {t('form.add_group')}
        </Button>
      </Group>
      {groups.length > 0 && (
        <Switch
          label={t('form.require_group')}
          {...form.getInputProps('require_group', { type: 'checkbox' })}
        />
      )}
    </Panel>
  );
}

interface RowProps {
  number: number;
  row: GroupRow;
  onChange: (row: GroupRow) => void;
  onRemove: () => void;
}

function Row({ number, row, onChange, onRemove }: RowProps) {
  const { t } = useTranslation('identity/sso');
  return (
    <Group gap="xs" align="flex-end">
      <TextInput
        label={t('form.group')}
        required
        flex="1 1 160px"
        maxLength={300}
        value={row.group}
        onChange={(event) => onChange({ ...row, group: event.currentTarget.value })}
      />
      <RoleSelect
        label={t('form.role')}
        placeholder={t('form.no_role')}
        flex="1 1 130px"
        clearable
        roles={SSO_ROLES}
        value={row.role}
        onChange={(role) => onChange({ ...row, role: SSO_ROLES.find((one) => one === role) })}
      />
      <TeamSelect
        label={t('form.team')}
        flex="1 1 150px"
        value={row.team_id}
        onChange={(team_id) => onChange({ ...row, team_id })}
      />
      <ActionIcon
        variant="subtle"
        color="gray"
        size="lg"
        aria-label={t('form.remove_group', { number })}
        onClick={onRemove}
      >
        <Trash2 size={16} />
      </ActionIcon>
    </Group>
  );
}
