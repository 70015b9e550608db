import { Button, Checkbox, Grid, Group, Stack, Text, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { Dialog } from '@/kit/components/Dialog';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { useIdempotency } from '@/kit/api/idempotency';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Loading } from '@/kit/components/Loading';
import { Unsaved } from '@/kit/forms/unsaved';
import { useMay } from '@/kit/session/may';
import { fromFields } from '../model';
import { FormPreview } from '../preview/FormPreview';
import { refreshSchemas } from '../useDraft';

/** A template with a preview of its form; creates a schema of the fields that are kept. */
export function TemplateDialog({ id, close }: { id: string | undefined; close: () => void }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { data, error } = $api.useQuery(
    'get',
    '/api/v1/schema-templates/{template_id}',
    { params: { path: { template_id: id ?? '' } } },
    { enabled: id !== undefined, staleTime: Infinity },
  );
  const template = id === undefined ? undefined : data?.data;
  return (
    <Dialog
      opened={id !== undefined}
      onClose={close}
      title={template?.name ?? t('templates.title')}
      size="xl"
    >
      <ErrorAlert error={error} />
      {!template && !error && <Loading />}
      {template && <Form template={template} />}
    </Dialog>
  );
}

function Form({ template }: { template: Schemas['SchemaTemplateDetail'] }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const mayManage = useMay()('schemas:manage');
  const [name, setName] = useState(template.name);
  const [kept, setKept] = useState(template.fields.map(({ key }) => key));
  const fields = template.fields.filter(({ key }) => kept.includes(key));
  const { create, submit } = useInstantiate(template.id, { name, fields: kept });
  return (
    <Stack lang="en">
      <Unsaved isDirty={name !== template.name || kept.length !== template.fields.length} />
      <Text size="sm">{template.description}</Text>
      <Grid>
        <Grid.Col span={{ base: 12, sm: 5 }}>
          <Checkbox.Group label={t('templates.fields')} value={kept} onChange={setKept}>
            <Stack gap={6} mt={6}>
              {template.fields.map((field) => (
                <Checkbox
                  key={field.key}
                  value={field.key}
                  label={field.label}
                  disabled={!mayManage}
                />
              ))}
            </Stack>
          </Checkbox.Group>
        </Grid.Col>
        <Grid.Col span={{ base: 12, sm: 7 }}>
          <FormPreview fields={fromFields(fields)} guidelines={template.guidelines} />
        </Grid.Col>
      </Grid>
      {mayManage && (
        <Group align="flex-end">
          <TextInput
            label={t('templates.name')}
            flex={1}
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.currentTarget.value)}
          />
          <Button
            onClick={submit}
            loading={create.isPending}
            disabled={kept.length === 0 || name.trim() === ''}
          >
            {t('templates.create')}
          </Button>
        </Group>
      )}
      <ErrorAlert error={create.error} />
    </Stack>
  );
}

function useInstantiate(id: string, body: { name: string; fields: string[] }) {
  const navigate = useNavigate();
  const idempotency = useIdempotency();
  const create = $api.useMutation('post', '/api/v1/schema-templates/{template_id}/instantiate');
  const submit = () =>
    create.mutate(
      { params: { path: { template_id: id }, header: idempotency.headers(body) }, body },
      {
        onSuccess: ({ data }) => {
          void refreshSchemas();
          void navigate({
            to: '/schemas/$schemaId',
            params: { schemaId: data.id },
            ignoreBlocker: true,
          });
        },
      },
    );
  return { create, submit };
}
