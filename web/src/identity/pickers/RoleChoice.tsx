import { Radio, Stack } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { ROLES, type Role } from './RoleSelect';

interface Props {
  value: Role;
  onChange: (role: Role) => void;
  roles: readonly Role[];
  error?: string | undefined;
}

/** Chooses a role, with what each may do. */
export function RoleChoice({ value, onChange, roles, error }: Props) {
  const { t } = useTranslation();
  const { t: tOwn } = useTranslation('identity/pickers');
  return (
    <Radio.Group
      label={tOwn('role')}
      value={value}
      error={error}
      onChange={(next) => onChange(ROLES.find((role) => role === next) ?? value)}
    >
      <Stack gap={6} mt={4}>
        {roles.map((role) => (
          <Radio
            key={role}
            value={role}
            label={t(`roles.${role}`)}
            description={tOwn(`descriptions.${role}`)}
          />
        ))}
      </Stack>
    </Radio.Group>
  );
}
