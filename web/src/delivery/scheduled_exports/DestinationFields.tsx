import { NativeSelect, Stack } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import type { Schemas } from '@/kit/api/types';
import { fieldError } from '@/kit/forms/fieldErrors';
import { SchemaFields } from '@/kit/forms/SchemaFields';
import { useSchemaForm } from '@/kit/forms/useSchemaForm';
import { CONTEXTS, type DestinationKind, KINDS, SETTINGS } from './destinations';

type Stored = Schemas['StoredDestination'];

/** The kind of a destination, with a form for each kind. */
export function useDestination(stored: Stored | undefined) {
  const [kind, setKind] = useState<DestinationKind>(stored?.kind ?? 'download');
  const start = (of: DestinationKind) =>
    stored?.kind === of ? { settings: stored.settings, stored: stored.stored_secrets } : {};
  const forms = {
    s3: useSchemaForm(SETTINGS.s3, start('s3')),
    sftp: useSchemaForm(SETTINGS.sftp, start('sftp')),
    http: useSchemaForm(SETTINGS.http, start('http')),
  };
  const form = kind === 'download' ? undefined : forms[kind];
  return {
    kind,
    setKind,
    form,
    /** Returns what was chosen and typed, to compare it. */
    typed: () => ({ kind, values: form?.values }),
    /** Returns the destination to send, or undefined if its form has problems. */
    submit(): Schemas['ExportDestination'] | undefined {
      if (!form) return { kind };
      const settings = form.submit();
      return settings && { kind, settings };
    },
    isChanged(): boolean {
      if (stored?.kind !== kind) return true;
      if (!form) return false;
      const sort = (values: object) => JSON.stringify(Object.entries(values).sort());
      return sort(form.current()) !== sort(stored.settings);
    },
  };
}

interface Props {
  destination: ReturnType<typeof useDestination>;
  error: unknown;
}

export function DestinationFields({ destination, error }: Props) {
  const { t } = useTranslation('delivery/scheduled_exports');
  const { kind, form, setKind } = destination;
  return (
    <Stack>
      <NativeSelect
        label={t('send_to')}
        description={t(`kind_hints.${kind}`)}
        value={kind}
        data={KINDS.map((one) => ({ value: one, label: t(`kinds.${one}`) }))}
        onChange={({ currentTarget: { value } }) =>
          setKind(KINDS.find((one) => one === value) ?? 'download')
        }
        error={
          form?.fields.some(({ name }) => fieldError(error, `destination.settings.${name}`))
            ? undefined
            : fieldError(error, 'destination')
        }
      />
      {kind !== 'download' && form && (
        <SchemaFields
          form={form}
          context={CONTEXTS[kind]}
          errorOf={(name) => fieldError(error, `destination.settings.${name}`)}
        />
      )}
    </Stack>
  );
}
