import { Switch, TagsInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { RoleSelect } from '@/identity/pickers';
import { Panel } from '@/kit/components/Panel';
import type { Values } from './values';

export const SSO_ROLES = ['viewer', 'labeler', 'reviewer', 'admin'] as const;

/** Who may sign in, and as what. */
export function AccessInputs({ form }: { form: UseFormReturnType<Values> }) {
  const { t } = useTranslation('identity/sso');
  return (
    <Panel title={t('form.access')}>
      <Switch label={t('form.enabled')} {...form.getInputProps('enabled', { type: 'checkbox' })} />
      <RoleSelect
        label={t('form.default_role')}
        roles={SSO_ROLES}
        allowDeselect={false}
        maw={320}
        value={form.values.default_role}
        onChange={(role) => {
          const next = SSO_ROLES.find((one) => one === role);
          if (next) form.setFieldValue('default_role', next);
        }}
        error={form.errors['default_role']}
      />
      <TagsInput
        label={t('form.email_domains')}
        description={t('form.email_domains_text')}
        placeholder="example.com"
        acceptValueOnBlur
        {...form.getInputProps('email_domains')}
      />
      <Switch
        label={t('form.enforced')}
        description={t('form.enforced_text')}
        {...form.getInputProps('enforced', { type: 'checkbox' })}
      />
    </Panel>
  );
}
