import { Stack } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import { queryClient } from '@/kit/api/queryClient';
import type { Schemas } from '@/kit/api/types';
import { ConfirmDialog } from '@/kit/components/ConfirmDialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { notifyDone } from '@/kit/components/notify';
import { showSaved, useSaved } from '@/kit/forms/edited';
import { FormActions } from '@/kit/forms/FormActions';
import { Unsaved } from '@/kit/forms/unsaved';
import { requireOrganization } from '@/kit/session/organization';
import { readSession, updateSession } from '@/kit/session/store';
import { GeneralInputs, ModelInputs, RetentionInputs, WorkInputs } from './SettingsInputs';
import { deletesMore, toBody, toInput, toValues, type Values } from './values';

type Organization = Schemas['Organization'];

/** The name in the header is that of the session. */
function rename(slug: string, name: string): void {
  const organizations = readSession()?.organizations.map((one) =>
    one.slug === slug ? { ...one, name } : one,
  );
  if (organizations) updateSession({ organizations });
}

export function SettingsForm({ organization }: { organization: Organization }) {
  const { t } = useTranslation('identity/organizations');
  const form = useForm<Values>({ initialValues: toValues(organization) });
  const [asked, setAsked] = useState(false);
  const goOn = useSaved();
  const update = $api.useMutation('patch', '/api/v1/organizations/{org_slug}');
  const error: unknown = update.error;
  const named = isApiError(error) && error.field !== undefined ? toInput(error.field) : '';

  const save = (values: Values) => {
    const org_slug = requireOrganization();
    setAsked(false);
    update.mutate(
      { params: { path: { org_slug } }, body: toBody(values, organization) },
      {
        onSuccess: ({ data }) => {
          rename(org_slug, data.name);
          showSaved(form, values, toValues(data));
          goOn(data.revision);
          notifyDone(t('saved'));
          void queryClient.invalidateQueries();
        },
        onError: (failure: unknown) => {
          if (isApiError(failure) && failure.field !== undefined)
            form.setFieldError(toInput(failure.field), failure.message);
        },
      },
    );
  };
  const submit = (values: Values) => {
    if (deletesMore(values, organization.settings.retention_days)) setAsked(true);
    else save(values);
  };
  return (
    <form onSubmit={form.onSubmit(submit)}>
      <Stack>
        <Unsaved isDirty={form.isDirty()} />
        <GeneralInputs form={form} slug={organization.slug} />
        <WorkInputs form={form} />
        <RetentionInputs form={form} />
        <ModelInputs form={form} hasKey={organization.settings.ai_provider.api_key_set} />
        <ErrorAlert error={named in form.values ? null : error} />
        <FormActions submit={t('save')} loading={update.isPending} />
      </Stack>
      <ConfirmDialog
        title={t('retention.confirm_title')}
        action={t('retention.confirm_action')}
        opened={asked}
        onClose={() => setAsked(false)}
        onConfirm={() => save(form.values)}
        loading={update.isPending}
        error={null}
        danger
      >
        {t('retention.confirm', { days: form.values.retention_days })}
      </ConfirmDialog>
    </form>
  );
}
