import { Select, type SelectProps } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';

export type Role = Schemas['Member']['role'];

export const ROLES = ['viewer', 'labeler', 'reviewer', 'admin', 'owner'] as const;

/** Returns the roles that a person with this role may give to others. */
export function rolesUpTo(role: string | undefined): readonly Role[] {
  return ROLES.slice(0, ROLES.findIndex((one) => one === role) + 1);
}

interface Props extends Omit<SelectProps, 'data' | 'value' | 'onChange' | 'defaultValue'> {
  value: Role | undefined;
  onChange: (role: Role | undefined) => void;
  roles?: readonly Role[];
}

export function RoleSelect({ value, onChange, roles = ROLES, ...rest }: Props) {
  const { t } = useTranslation();
  const { t: tOwn } = useTranslation('identity/pickers');
  return (
    <Select
      label={tOwn('role')}
      {...rest}
      data={roles.map((role) => ({ value: role, label: t(`roles.${role}`) }))}
      value={value ?? null}
      onChange={(next) => onChange(roles.find((role) => role === next))}
    />
  );
}
