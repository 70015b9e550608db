import { MultiSelect, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { SchemaSelect, useFields } from '@/insight/figures';
import { $api } from '@/kit/api/client';
import { queryClient } from '@/kit/api/queryClient';
import { Dialog } from '@/kit/components/Dialog';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { fieldErrors, otherError } from '@/kit/forms/fieldErrors';
import { FormActions } from '@/kit/forms/FormActions';
import { COEFFICIENTS, type Coefficient } from './runs';

const FIELDS = ['schema_id', 'fields', 'metrics'] as const;

interface Props {
  schemaId: string | undefined;
  onClose: () => void;
  onStarted: (schemaId: string) => void;
}

interface What {
  fields: string[];
  metrics: Coefficient[];
}

interface WhatProps {
  schemaId: string | undefined;
  value: What;
  onChange: (value: What) => void;
  errors: Record<string, string>;
}

/** Which fields are compared, and by which coefficients; by default all that fit. */
function WhatInputs({ schemaId, value, onChange, errors }: WhatProps) {
  const { t } = useTranslation('insight/quality');
  const options = useFields(schemaId);
  return (
    <>
      <MultiSelect
        label={t('runs.fields')}
        placeholder={value.fields.length === 0 ? t('runs.fields_all') : ''}
        data={options.map((one) => ({ value: one.value, label: one.label }))}
        value={value.fields}
        onChange={(fields) => onChange({ ...value, fields })}
        searchable
        error={errors['fields']}
      />
      <MultiSelect
        label={t('runs.metrics')}
        placeholder={value.metrics.length === 0 ? t('runs.metrics_all') : ''}
        data={COEFFICIENTS.map((one) => ({ value: one, label: t(`coefficients.${one}`) }))}
        value={value.metrics}
        onChange={(next) =>
          onChange({
            ...value,
            metrics: COEFFICIENTS.filter((one) => next.includes(one)),
          })
        }
        error={errors['metrics']}
      />
    </>
  );
}

/** Starts a computation of agreement. */
export function ComputeDialog({ schemaId, onClose, onStarted }: Props) {
  const { t } = useTranslation('insight/quality');
  const [schema, setSchema] = useState(schemaId);
  const [what, setWhat] = useState<What>({ fields: [], metrics: [] });
  const compute = $api.useMutation('post', '/api/v1/quality/compute');
  const errors = fieldErrors(compute.error, FIELDS);

  const submit = () => {
    if (schema === undefined) return;
    const body = {
      schema_id: schema,
      ...(what.fields.length > 0 && { fields: what.fields }),
      ...(what.metrics.length > 0 && { metrics: what.metrics }),
    };
    compute.mutate(
      { body },
      {
        onSuccess: () => {
          void queryClient.invalidateQueries({
            queryKey: ['get', '/api/v1/quality/runs'],
          });
          onStarted(schema);
          onClose();
        },
      },
    );
  };
  return (
    <Dialog title={t('runs.compute_title')} onClose={onClose}>
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
            error={errors['schema_id']}
            data-autofocus
          />
          <WhatInputs schemaId={schema} value={what} onChange={setWhat} errors={errors} />
          <ErrorAlert error={otherError(compute.error, FIELDS)} />
          <FormActions
            submit={t('runs.start')}
            loading={compute.isPending}
            disabled={schema === undefined}
            onCancel={onClose}
          />
        </Stack>
      </form>
    </Dialog>
  );
}
