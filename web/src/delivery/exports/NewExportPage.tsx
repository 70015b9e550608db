import { Box, Button, Grid, Group, Stack } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { useIdempotency } from '@/kit/api/idempotency';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Page } from '@/kit/components/Page';
import { Section } from '@/kit/components/Section';
import { otherError } from '@/kit/forms/fieldErrors';
import { useKeys } from '@/kit/keys/keys';
import { Preview, usePreview } from './Preview';
import { RequestFields } from './RequestFields';
import { type ExportRequest, toBody, useExportRequest } from './request';

const SHOWN = ['format', 'options', 'filter', 'include'];

function useStart() {
  const navigate = useNavigate();
  const client = useQueryClient();
  const idempotency = useIdempotency();
  const create = $api.useMutation('post', '/api/v1/exports');
  const start = (request: ExportRequest) => {
    const body = toBody(request);
    create.mutate(
      { params: { header: idempotency.headers(body) }, body },
      {
        onSuccess: ({ data }) => {
          idempotency.done();
          void client.invalidateQueries({ queryKey: ['get', '/api/v1/exports'] });
          void navigate({ to: '/exports/$jobId', params: { jobId: data.id } });
        },
      },
    );
  };
  return { start, error: create.error, isPending: create.isPending };
}

export function NewExportPage() {
  const { t } = useTranslation('delivery/exports');
  const search = useSearch({ from: '/work/exports/new' });
  const { request, set } = useExportRequest({
    ...(search.format && { format: search.format }),
    ...(search.schema_id && { schemaId: search.schema_id }),
  });
  const { start, error, isPending } = useStart();
  const preview = usePreview(request);
  useKeys(t('create'), [
    { keys: 'mod+Enter', text: t('start'), inInputs: true, run: () => start(request) },
  ]);
  return (
    <Page title={t('create')}>
      <Grid gap="xl">
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Stack>
            <RequestFields request={request} set={set} error={error ?? preview.error} />
            <ErrorAlert error={otherError(error, SHOWN)} />
            <Group>
              <Button loading={isPending} onClick={() => start(request)}>
                {t('start')}
              </Button>
            </Group>
          </Stack>
        </Grid.Col>
        <Grid.Col span={{ base: 12, lg: 6 }}>
          <Box pos="sticky" top={64}>
            <Section title={t('preview.title')}>
              <Preview preview={preview} />
            </Section>
          </Box>
        </Grid.Col>
      </Grid>
    </Page>
  );
}
