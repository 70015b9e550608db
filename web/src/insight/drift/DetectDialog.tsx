import { Checkbox, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SchemaSelect } from '@/insight/figures';
import { $api } from '@/kit/api/client';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { FormActions } from '@/kit/forms/FormActions';

interface Props {
  schemaId: string | undefined;
  onClose: () => void;
  onStarted: (detectionId: string) => void;
}

/** Starts a search for drift with the usual periods. */
export function DetectDialog({ schemaId, onClose, onStarted }: Props) {
  const { t } = useTranslation('insight/drift');
  const [schema, setSchema] = useState(schemaId);
  const [fix, setFix] = useState(false);
  const detect = $api.useMutation('post', '/api/v1/quality/drift/detect');
  const submit = () => {
    if (schema === undefined) return;
    detect.mutate(
      { body: { schema_id: schema, ...(fix && { fix_baseline: true }) } },
      {
        onSuccess: ({ data }) => {
          onStarted(data.id);
          onClose();
        },
      },
    );
  };
  return (
    <Dialog title={t('detect')} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          submit();
        }}
      >
        <Stack>
          <SchemaSelect
            value={schema}
            onChange={setSchema}
            placeholder=""
            required
            clearable={false}
            data-autofocus
          />
          <Checkbox
            label={t('fix')}
            checked={fix}
            onChange={(event) => setFix(event.currentTarget.checked)}
          />
          <ErrorAlert error={detect.error} />
          <FormActions
            submit={t('start')}
            loading={detect.isPending}
            disabled={schema === undefined}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
