import { Button, Group, Stack, TextInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useNavigate } from '@tanstack/react-router';
import { Dialog } from '@/kit/components/Dialog';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { useIdempotency } from '@/kit/api/idempotency';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { otherError, showAtField } from '@/kit/forms/fieldErrors';
import { Unsaved } from '@/kit/forms/unsaved';
import { refreshSchemas } from '../useDraft';

export function CreateDialog({ opened, close }: { opened: boolean; close: () => void }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  return (
    <Dialog opened={opened} onClose={close} title={t('create.title')}>
      <Form close={close} />
    </Dialog>
  );
}

function Form({ close }: { close: () => void }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const navigate = useNavigate();
  const idempotency = useIdempotency();
  const create = $api.useMutation('post', '/api/v1/schemas');
  const form = useForm({ initialValues: { name: '', document_type: '' } });
  const submit = form.onSubmit(({ name, document_type }) => {
    const body = { name, ...(document_type && { document_type }) };
    create.mutate(
      { params: { header: idempotency.headers(body) }, body },
      {
        onSuccess: ({ data }) => {
          void refreshSchemas();
          void navigate({
            to: '/schemas/$schemaId',
            params: { schemaId: data.id },
            ignoreBlocker: true,
          });
        },
        onError: (error) => showAtField(form, error),
      },
    );
  });
  return (
    <form onSubmit={submit}>
      <Stack>
        <Unsaved isDirty={form.isDirty()} />
        <TextInput
          label={t('column.name')}
          description={t('create.name_hint')}
          required
          maxLength={200}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <TextInput
          label={t('column.document_type')}
          description={t('create.type_hint')}
          maxLength={100}
          {...form.getInputProps('document_type')}
        />
        <ErrorAlert error={otherError(create.error, ['name', 'document_type'])} />
        <Group justify="flex-end">
          <Button variant="default" onClick={close}>
            {t('cancel')}
          </Button>
          <Button type="submit" loading={create.isPending}>
            {t('create.submit')}
          </Button>
        </Group>
      </Stack>
    </form>
  );
}
