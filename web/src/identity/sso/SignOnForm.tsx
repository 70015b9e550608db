import { Stack } from '@mantine/core';
import { useForm, type UseFormReturnType } from '@mantine/form';
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
import { AccessInputs } from './AccessInputs';
import { GroupInputs } from './GroupInputs';
import { ProviderInputs } from './ProviderInputs';
import { toBody, toInput, toValues, type Values } from './values';

interface Props {
  sso: Schemas['Sso'] | undefined;
  /** The one that a save is based on. */
  revision: number;
}

/** Saves what was entered; errors are shown at their fields. */
function useSave({ sso, revision }: Props, form: UseFormReturnType<Values>) {
  const { t } = useTranslation('identity/sso');
  const goOn = useSaved();
  const configure = $api.useMutation('post', '/api/v1/organizations/{org_slug}/sso');
  const save = (values: Values) =>
    configure.mutate(
      {
        params: { path: { org_slug: requireOrganization() } },
        body: toBody(values, sso && revision),
      },
      {
        onSuccess: ({ data }) => {
          showSaved(form, values, toValues(data));
          goOn(data.revision);
          notifyDone(t('form.saved'));
          void queryClient.invalidateQueries({
            queryKey: ['get', '/api/v1/organizations/{org_slug}/sso'],
          });
        },
        onError: (failure: unknown) => {
          if (isApiError(failure) && failure.field !== undefined)
            form.setFieldError(toInput(failure.field), failure.message);
        },
      },
    );
  return { save, error: configure.error as unknown, isPending: configure.isPending };
}

/** The configuration of single sign-on. Saving checks the provider. */
export function SignOnForm(props: Props) {
  const { t } = useTranslation('identity/sso');
  const { sso } = props;
  const form = useForm<Values>({ initialValues: toValues(sso) });
  const [asked, setAsked] = useState(false);
  const { save, error, isPending } = useSave(props, form);
  const named = isApiError(error) && error.field !== undefined ? toInput(error.field) : '';

  const submit = (values: Values) => {
    const isNew = values.enforced && values.enabled && !(sso?.enforced && sso.enabled);
    if (isNew) setAsked(true);
    else save(values);
  };
  return (
    <form onSubmit={form.onSubmit(submit)}>
      <Stack>
        <Unsaved isDirty={form.isDirty()} />
        <ProviderInputs form={form} hasSecret={sso?.oidc?.has_client_secret ?? false} />
        <AccessInputs form={form} />
        <GroupInputs form={form} />
        <ErrorAlert error={named in form.values && named !== 'groups' ? null : error} />
        <FormActions submit={t('form.save')} loading={isPending} />
      </Stack>
      <ConfirmDialog
        title={t('confirm.title')}
        action={t('confirm.action')}
        opened={asked}
        onClose={() => setAsked(false)}
        onConfirm={() => {
          setAsked(false);
          save(form.values);
        }}
        loading={isPending}
        error={null}
        danger
      >
        {t('confirm.text')}
      </ConfirmDialog>
    </form>
  );
}
