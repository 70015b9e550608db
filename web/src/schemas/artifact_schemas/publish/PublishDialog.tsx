import { Button, Checkbox, Group, Stack, Text, Textarea } from '@mantine/core';
import { TriangleAlert } from 'lucide-react';
import { useEffect, useState } from 'react';
import { Dialog } from '@/kit/components/Dialog';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { useIdempotency } from '@/kit/api/idempotency';
import type { Schemas } from '@/kit/api/types';
import { isApiError } from '@/kit/api/errors';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { notifyError } from '@/kit/components/notify';
import { Notice } from '@/kit/components/Notice';
import { Loading } from '@/kit/components/Loading';
import { ChangeList } from '../versions/ChangeList';
import { refreshSchemas, type SchemaDetail } from '../useDraft';

interface Props {
  schema: SchemaDetail;
  opened: boolean;
  close: () => void;
}

export function PublishDialog({ schema, opened, close }: Props) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const number = (schema.current_version?.number ?? 0) + 1;
  return (
    <Dialog opened={opened} onClose={close} title={t('publish.title', { number })} size="lg">
      <Form schema={schema} close={close} />
    </Dialog>
  );
}

const PUBLISH = '/api/v1/schemas/{schema_id}/publish';

function usePublish(schema: SchemaDetail, close: () => void) {
  const base_version = schema.current_version?.number ?? 0;
  const init = { params: { path: { schema_id: schema.id } } };
  const check = $api.useMutation('post', PUBLISH);
  const publish = $api.useMutation('post', PUBLISH);
  const activate = $api.useMutation('post', '/api/v1/schemas/{schema_id}/activate');
  const idempotency = useIdempotency();
  const { mutate } = check;
  const { id } = schema;
  useEffect(() => {
    const body = { base_version, dry_run: true };
    mutate({ params: { path: { schema_id: id } }, body });
  }, [mutate, id, base_version]);
  const submit = (note: string, allow_breaking: boolean, open: boolean) => {
    const body = { base_version, allow_breaking, ...(note !== '' && { note }) };
    const done = () => void refreshSchemas().then(close);
    publish.mutate(
      { params: { ...init.params, header: idempotency.headers(body) }, body },
      {
        onSuccess: () => {
          if (open)
            activate.mutate({ ...init, body: {} }, { onError: notifyError, onSettled: done });
          else done();
        },
      },
    );
  };
  return { check, publish, activate, submit };
}

function Form({ schema, close }: Omit<Props, 'opened'>) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const [note, setNote] = useState('');
  const [allowed, setAllowed] = useState(false);
  const [open, setOpen] = useState(schema.status === 'draft');
  const { check, publish, activate, submit } = usePublish(schema, close);
  const result = check.data?.data;
  if (check.error) return <ErrorAlert error={check.error} />;
  if (!result) return <Loading />;
  const raced = isApiError(publish.error, 'schema_version_conflict');
  const isActive = schema.status === 'active';
  return (
    <Stack>
      {result.breaking && <BreakingAlert />}
      <Changes schema={schema} changes={result.changes} />
      <Textarea
        label={t('publish.note')}
        description={t('publish.note_hint')}
        autosize
        minRows={2}
        maxLength={2000}
        dir="auto"
        value={note}
        onChange={(event) => setNote(event.currentTarget.value)}
      />
      {result.breaking && (
        <Checkbox
          label={t('breaking.allow')}
          checked={allowed}
          onChange={(event) => setAllowed(event.currentTarget.checked)}
        />
      )}
      {!isActive && (
        <Checkbox
          label={t('publish.open')}
          checked={open}
          onChange={(event) => setOpen(event.currentTarget.checked)}
        />
      )}
      <ErrorAlert error={raced ? new Error(t('publish.raced')) : publish.error} />
      <Group justify="flex-end">
        <Button variant="default" onClick={close}>
          {t('cancel')}
        </Button>
        <Button
          loading={publish.isPending || activate.isPending}
          disabled={result.breaking && !allowed}
          onClick={() => submit(note.trim(), result.breaking, !isActive && open)}
        >
          {t('action.publish')}
        </Button>
      </Group>
    </Stack>
  );
}

function BreakingAlert() {
  const { t } = useTranslation('schemas/artifact_schemas');
  return (
    <Notice color="orange" icon={<TriangleAlert size={18} />} title={t('breaking.title')}>
      {t('breaking.text')}
    </Notice>
  );
}

interface ChangesProps {
  schema: SchemaDetail;
  changes: readonly Schemas['FieldChange'][];
}

function Changes({ schema, changes }: ChangesProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  if (!schema.current_version)
    return <Text size="sm">{t('publish.first', { count: schema.fields.length })}</Text>;
  if (changes.length === 0) return <Text size="sm">{t('publish.no_changes')}</Text>;
  return <ChangeList changes={changes} />;
}
