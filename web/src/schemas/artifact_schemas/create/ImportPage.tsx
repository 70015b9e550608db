import { Button, FileButton, Group, Select, Stack, Textarea, TextInput } from '@mantine/core';
import { useNavigate } from '@tanstack/react-router';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { useIdempotency } from '@/kit/api/idempotency';
import { isApiError } from '@/kit/api/errors';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Page } from '@/kit/components/Page';
import { withFieldName } from '@/kit/forms/fieldErrors';
import { Unsaved } from '@/kit/forms/unsaved';
import { refreshSchemas } from '../useDraft';
import { FORMATS, guessFormat, type ImportFormat } from './formats';
import { ImportReport, Warnings } from './ImportReport';

type Warning = Schemas['SchemaImportWarning'];

function useImport() {
  const navigate = useNavigate();
  const [format, setFormat] = useState<ImportFormat>('json_schema');
  const [content, setContent] = useState('');
  const [name, setName] = useState('');
  const idempotency = useIdempotency();
  const check = $api.useMutation('post', '/api/v1/schemas/import');
  const body = { format, content, ...(name.trim() && { name: name.trim() }) };
  const edit = (text: string) => {
    check.reset();
    setContent(text);
    setFormat(guessFormat(text) ?? format);
  };
  const choose = (value: ImportFormat) => {
    check.reset();
    setFormat(value);
  };
  const preview = () => check.mutate({ body: { ...body, dry_run: true } });
  const create = () =>
    check.mutate(
      { params: { header: idempotency.headers(body) }, body },
      {
        onSuccess: ({ data }) => {
          void refreshSchemas();
          if (data.id === null) return;
          void navigate({
            to: '/schemas/$schemaId',
            params: { schemaId: data.id },
            ignoreBlocker: true,
          });
        },
      },
    );
  return { format, choose, content, edit, name, setName, check, preview, create };
}

/** The report of a file that has no usable field. */
function warningsOf(error: unknown): Warning[] {
  const warnings = isApiError(error) ? error.details['warnings'] : undefined;
  return Array.isArray(warnings) ? (warnings as Warning[]) : [];
}

export function ImportPage() {
  const { t } = useTranslation('schemas/artifact_schemas');
  const form = useImport();
  const { check } = form;
  const result = check.data?.data;
  return (
    <Page title={t('import.title')} description={t('import.text')}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          form.preview();
        }}
      >
        <Stack gap="sm">
          <Unsaved isDirty={form.content !== ''} />
          <FormatInputs form={form} />
          <Textarea
            label={t('import.content')}
            required
            autosize
            minRows={8}
            maxRows={20}
            spellCheck={false}
            styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)' } }}
            value={form.content}
            onChange={(event) => form.edit(event.currentTarget.value)}
          />
          <ErrorAlert error={withFieldName(check.error)} />
          <Warnings warnings={warningsOf(check.error)} />
          <Group>
            <Button
              type="submit"
              variant={result ? 'default' : 'filled'}
              loading={check.isPending}
              disabled={form.content.trim() === ''}
            >
              {t('import.check')}
            </Button>
            {result && (
              <Button loading={check.isPending} onClick={form.create}>
                {t('import.create')}
              </Button>
            )}
          </Group>
        </Stack>
      </form>
      {result && <ImportReport result={result} />}
    </Page>
  );
}

function FormatInputs({ form }: { form: ReturnType<typeof useImport> }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const read = (file: File | null) => void file?.text().then(form.edit);
  return (
    <Group align="flex-end" gap="sm">
      <Select
        label={t('import.format')}
        allowDeselect={false}
        data={FORMATS.map((value) => ({ value, label: t(`import.formats.${value}`) }))}
        value={form.format}
        onChange={(value) => form.choose(value ?? 'json_schema')}
      />
      <TextInput
        label={t('import.name')}
        placeholder={t('import.name_hint')}
        maxLength={200}
        value={form.name}
        onChange={(event) => form.setName(event.currentTarget.value)}
      />
      <FileButton accept=".json,.xml,.txt" onChange={read}>
        {(props) => (
          <Button variant="default" {...props}>
            {t('import.file')}
          </Button>
        )}
      </FileButton>
    </Group>
  );
}
