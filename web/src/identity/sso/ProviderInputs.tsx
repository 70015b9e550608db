import { PasswordInput, SegmentedControl, TagsInput, Textarea, TextInput } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/kit/components/Panel';
import type { Values } from './values';

interface Props {
  form: UseFormReturnType<Values>;
  hasSecret: boolean;
}

/** Where people sign in. */
export function ProviderInputs({ form, hasSecret }: Props) {
  const { t } = useTranslation('identity/sso');
  return (
    <Panel title={t('form.provider')}>
      <SegmentedControl
        aria-label={t('form.kind')}
        w="fit-content"
        data={[
          { value: 'oidc', label: t('form.oidc') },
          { value: 'saml', label: t('form.saml') },
        ]}
        {...form.getInputProps('kind')}
      />
      {form.values.kind === 'oidc' ? (
        <OidcInputs form={form} hasSecret={hasSecret} />
      ) : (
        <SamlInputs form={form} />
      )}
    </Panel>
  );
}

function OidcInputs({ form, hasSecret }: Props) {
  const { t } = useTranslation('identity/sso');
  return (
    <>
      <TextInput
        label={t('form.issuer')}
        description={t('form.issuer_text')}
        type="url"
        required
        placeholder="https://idp.example.com"
        {...form.getInputProps('issuer')}
      />
      <TextInput
        label={t('form.client_id')}
        required
        maxLength={300}
        autoComplete="off"
        {...form.getInputProps('client_id')}
      />
      <PasswordInput
        label={t('form.client_secret')}
        {...(hasSecret && { description: t('form.secret_set') })}
        autoComplete="new-password"
        {...form.getInputProps('client_secret')}
      />
      <TagsInput label={t('form.scopes')} {...form.getInputProps('scopes')} />
      <TextInput
        label={t('form.groups_claim')}
        maxLength={100}
        {...form.getInputProps('groups_claim')}
      />
    </>
  );
}

function SamlInputs({ form }: Pick<Props, 'form'>) {
  const { t } = useTranslation('identity/sso');
  const hasUrl = form.values.metadata_url.trim() !== '';
  return (
    <>
      <TextInput
        label={t('form.metadata_url')}
        description={t('form.metadata_url_text')}
        type="url"
        placeholder="https://idp.example.com/metadata"
        {...form.getInputProps('metadata_url')}
      />
      <Textarea
        label={t('form.metadata_xml')}
        autosize
        minRows={3}
        maxRows={10}
        disabled={hasUrl}
        styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
        {...form.getInputProps('metadata_xml')}
      />
      <TextInput
        label={t('form.name_id_format')}
        description={t('form.name_id_text')}
        maxLength={200}
        {...form.getInputProps('name_id_format')}
      />
    </>
  );
}
