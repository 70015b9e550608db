import { Grid, Paper, Stack, Text, Title } from '@mantine/core';
import { useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { isApiError } from '@/kit/api/errors';
import { type DraftField, pathOf, replaceField } from '../model';
import { FormPreview } from '../preview/FormPreview';
import type { DraftState } from '../useDraft';
import { FieldForm } from './FieldForm';
import { FieldList } from './FieldList';

function findField(fields: readonly DraftField[], uid: string | undefined): DraftField | undefined {
  for (const field of fields) {
    if (field.uid === uid) return field;
    const column = findField(field.columns, uid);
    if (column) return column;
  }
  return undefined;
}

/** The keys of published fields, or of the columns of a table. */
function keysBeside(published: readonly DraftField[], table: DraftField | undefined): string[] {
  const fields = table ? published.find(({ key }) => key === table.key)?.columns : published;
  return (fields ?? []).map(({ key }) => key);
}

interface Props {
  state: DraftState;
  readOnly: boolean;
}

function useChosen() {
  const [chosen, setChosen] = useState<string>();
  const form = useRef<HTMLDivElement>(null);
  const select = (uid: string) => {
    setChosen(uid);
    // On a narrow page the form is below the list.
    requestAnimationFrame(() => form.current?.scrollIntoView({ block: 'nearest' }));
  };
  return { chosen, select, form };
}

/** The fields, the one that is edited, and the form that people will see. */
export function FieldsEditor({ state, readOnly }: Props) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { fields, guidelines } = state.draft;
  const { published } = state;
  const { chosen, select, form } = useChosen();
  const current = findField(fields, chosen) ?? fields[0];
  const owner = fields.find(({ columns }) => columns.some(({ uid }) => uid === current?.uid));
  const failed = isApiError(state.error) ? state.error : undefined;
  const path = current && pathOf(fields, current.uid);
  const errorOf = (member: string) =>
    failed?.field !== undefined && failed.field === `${path ?? ''}.${member}`
      ? failed.message
      : undefined;
  return (
    <Grid gap="md">
      <Grid.Col span={{ base: 12, sm: 5, lg: 3 }}>
        <FieldList
          fields={fields}
          current={current?.uid}
          select={select}
          change={(next) => state.change({ fields: next })}
          readOnly={readOnly}
          failedPath={failed?.field}
        />
      </Grid.Col>
      <Grid.Col span={{ base: 12, sm: 7, lg: 5 }}>
        <Paper withBorder p="sm" ref={form}>
          {current ? (
            <FieldForm
              key={current.uid}
              field={current}
              isColumn={owner !== undefined}
              taken={(owner?.columns ?? fields).map(({ key }) => key)}
              published={keysBeside(published, owner)}
              change={(changes) =>
                state.change({ fields: replaceField(fields, current.uid, changes) })
              }
              errorOf={errorOf}
              readOnly={readOnly}
            />
          ) : (
            <Text c="dimmed">{t('fields.none')}</Text>
          )}
        </Paper>
      </Grid.Col>
      <Grid.Col span={{ base: 12, lg: 4 }}>
        <Stack gap="xs">
          <Title order={2} size="h5">
            {t('preview.title')}
          </Title>
          <FormPreview
            fields={fields}
            guidelines={guidelines}
            current={owner?.uid ?? current?.uid}
          />
        </Stack>
      </Grid.Col>
    </Grid>
  );
}
