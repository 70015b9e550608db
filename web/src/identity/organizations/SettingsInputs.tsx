import {
  Checkbox,
  PasswordInput,
  Radio,
  Select,
  SimpleGrid,
  Stack,
  Switch,
  TextInput,
} from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { useTranslation } from 'react-i18next';
import { Panel } from '@/kit/components/Panel';
import { IntegerInput } from '@/kit/forms/IntegerInput';
import { TimeZoneSelect } from '@/kit/forms/TimeZoneSelect';
import type { Values } from './values';

interface Props {
  form: UseFormReturnType<Values>;
}

const LOCALES = ['en', 'de', 'es', 'fr', 'it', 'nl', 'pl', 'pt'];

export function GeneralInputs({ form, slug }: Props & { slug: string }) {
  const { t, i18n } = useTranslation('identity/organizations');
  const names = new Intl.DisplayNames(i18n.language, { type: 'language' });
  const locales = [...new Set([...LOCALES, form.values.locale])];
  return (
    <Panel title={t('general.title')}>
      <TextInput
        label={t('general.name')}
        required
        maxLength={200}
        dir="auto"
        {...form.getInputProps('name')}
      />
      <TextInput
        label={t('general.slug')}
        description={t('general.slug_text')}
        value={slug}
        readOnly
        variant="filled"
      />
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <Select
          label={t('general.locale')}
          description={t('general.locale_text')}
          allowDeselect={false}
          data={locales.map((value) => ({ value, label: names.of(value) ?? value }))}
          {...form.getInputProps('locale')}
        />
        <TimeZoneSelect
          label={t('general.time_zone')}
          description={t('general.time_zone_text')}
          {...form.getInputProps('time_zone')}
        />
      </SimpleGrid>
    </Panel>
  );
}

export function WorkInputs({ form }: Props) {
  const { t } = useTranslation('identity/organizations');
  return (
    <Panel title={t('work.title')}>
      <SimpleGrid cols={{ base: 1, xs: 2 }}>
        <IntegerInput
          label={t('work.claim_minutes')}
          description={t('work.claim_text')}
          suffix={t('work.claim_suffix')}
          min={1}
          max={1440}
          required
          {...form.getInputProps('claim_minutes')}
        />
        <IntegerInput
          label={t('work.draft_hours')}
          description={t('work.draft_text')}
          suffix={t('work.draft_suffix')}
          min={1}
          max={8760}
          required
          {...form.getInputProps('draft_hours')}
        />
      </SimpleGrid>
      <Switch
        label={t('work.self_review')}
        {...form.getInputProps('allow_self_review', { type: 'checkbox' })}
      />
    </Panel>
  );
}

export function RetentionInputs({ form }: Props) {
  const { t } = useTranslation('identity/organizations');
  return (
    <Panel title={t('retention.title')}>
      <Checkbox label={t('retention.keep')} {...form.getInputProps('keep', { type: 'checkbox' })} />
      {!form.values.keep && (
        <IntegerInput
          label={t('retention.days')}
          description={t('retention.days_text')}
          suffix={t('retention.days_suffix')}
          min={1}
          max={36_500}
          required
          maw={320}
          {...form.getInputProps('retention_days')}
        />
      )}
    </Panel>
  );
}

export function ModelInputs({ form, hasKey }: Props & { hasKey: boolean }) {
  const { t } = useTranslation('identity/organizations');
  return (
    <Panel title={t('model.title')}>
      <Radio.Group label={t('model.kind')} {...form.getInputProps('kind')}>
        <Stack gap={6} mt={4}>
          <Radio value="builtin" label={t('model.builtin')} />
          <Radio value="openai_compatible" label={t('model.openai_compatible')} />
        </Stack>
      </Radio.Group>
      {form.values.kind === 'openai_compatible' && (
        <>
          <TextInput
            label={t('model.base_url')}
            description={t('model.base_url_text')}
            type="url"
            required
            {...form.getInputProps('base_url')}
          />
          <TextInput label={t('model.name')} required {...form.getInputProps('model')} />
          <PasswordInput
            label={t('model.api_key')}
            description={hasKey ? t('model.api_key_set') : t('model.api_key_unset')}
            autoComplete="off"
            disabled={form.values.remove_key}
            {...form.getInputProps('api_key')}
          />
          {hasKey && (
            <Checkbox
              label={t('model.remove_key')}
              {...form.getInputProps('remove_key', { type: 'checkbox' })}
            />
          )}
        </>
      )}
    </Panel>
  );
}
