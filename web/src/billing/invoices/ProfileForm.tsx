import { Group, Select, SimpleGrid, Stack, Textarea, TextInput } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
import { useMemo } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { notifyDone } from '@/kit/components/notify';
import { showSaved, useSaved } from '@/kit/forms/edited';
import { FormActions } from '@/kit/forms/FormActions';
import { TimeZoneSelect } from '@/kit/forms/TimeZoneSelect';
import { Unsaved } from '@/kit/forms/unsaved';
import { listCountries } from './countries';
import { toBody, toFormField, toValues, type ProfileValues } from './profile';

const LANGUAGES = ['en', 'de', 'es', 'fr'] as const;

type Form = UseFormReturnType<ProfileValues>;

export function ProfileForm({ profile }: { profile: Schemas['BillingProfile'] }) {
  const { t } = useTranslation('billing/invoices');
  const form = useForm<ProfileValues>({ initialValues: toValues(profile) });
  const goOn = useSaved();
  const save = $api.useMutation('put', '/api/v1/billing/profile');
  const error: unknown = save.error;
  const named = isApiError(error) && error.field !== undefined ? toFormField(error.field) : '';
  const isPlaced = named in form.values;

  const submit = form.onSubmit((values) =>
    save.mutate(
      { body: toBody(values, profile.revision) },
      {
        onSuccess: ({ data }) => {
          showSaved(form, values, toValues(data));
          goOn(data.revision);
          notifyDone(t('profile.saved'));
          void queryClient.invalidateQueries();
        },
        onError: (failure: unknown) => {
          if (isApiError(failure) && failure.field !== undefined)
            form.setFieldError(toFormField(failure.field), failure.message);
        },
      },
    ),
  );
  return (
    <form onSubmit={submit}>
      <Stack>
        <Unsaved isDirty={form.isDirty()} />
        <TextInput
          label={t('profile.name')}
          required
          maxLength={200}
          autoComplete="organization"
          dir="auto"
          {...form.getInputProps('name')}
        />
        <AddressInputs form={form} />
        <TextInput
          label={t('profile.tax_number')}
          description={t('profile.tax_number_text')}
          maxLength={40}
          {...form.getInputProps('tax_number')}
        />
        <TextInput
          label={t('profile.email')}
          type="email"
          required
          maxLength={320}
          {...form.getInputProps('email')}
        />
        <InvoiceInputs form={form} />
        <ErrorAlert error={isPlaced ? null : error} />
        <FormActions submit={t('profile.save')} loading={save.isPending} />
      </Stack>
    </form>
  );
}

function AddressInputs({ form }: { form: Form }) {
  const { t, i18n } = useTranslation('billing/invoices');
  const countries = useMemo(() => listCountries(i18n.language), [i18n.language]);
  return (
    <>
      <Textarea
        label={t('profile.lines')}
        description={t('profile.lines_text')}
        required
        autosize
        minRows={2}
        maxRows={5}
        dir="auto"
        {...form.getInputProps('lines')}
      />
      <Group align="flex-start" grow preventGrowOverflow={false}>
        <TextInput
          label={t('profile.postal_code')}
          maxLength={20}
          autoComplete="postal-code"
          miw={110}
          {...form.getInputProps('postal_code')}
        />
        <TextInput
          label={t('profile.city')}
          required
          maxLength={100}
          autoComplete="address-level2"
          dir="auto"
          miw={180}
          {...form.getInputProps('city')}
        />
      </Group>
      <Select
        label={t('profile.country')}
        required
        searchable
        data={countries}
        {...form.getInputProps('country')}
      />
    </>
  );
}

function InvoiceInputs({ form }: { form: Form }) {
  const { t, i18n } = useTranslation('billing/invoices');
  const names = new Intl.DisplayNames(i18n.language, { type: 'language' });
  return (
    <SimpleGrid cols={{ base: 1, sm: 3 }}>
      <TextInput
        label={t('profile.currency')}
        description={t('profile.currency_text')}
        required
        maxLength={3}
        {...form.getInputProps('currency')}
      />
      <Select
        label={t('profile.language')}
        description=" "
        allowDeselect={false}
        data={LANGUAGES.map((value) => ({ value, label: names.of(value) ?? value }))}
        {...form.getInputProps('language')}
      />
      <TimeZoneSelect
        label={t('profile.time_zone')}
        description=" "
        {...form.getInputProps('time_zone')}
      />
    </SimpleGrid>
  );
}
