import { Anchor, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core';
import { getRouteApi, Link } from '@tanstack/react-router';
import { ArrowLeft } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import { isApiError } from '@/kit/api/errors';
import type { Schemas } from '@/kit/api/types';
import { pollEvery } from '@/kit/api/polling';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { NotFound } from '@/kit/components/NotFound';
import { Page } from '@/kit/components/Page';
import { Panel } from '@/kit/components/Panel';
import { LoadingRows } from '@/kit/lists/Listing';
import { DownloadPdf } from './DownloadPdf';
import { InvoiceStatus } from './InvoicesTable';
import { LinesTable } from './LinesTable';
import { useInvoiceDays } from './useInvoiceDays';
import { usePeriod } from './usePeriod';

type Invoice = Schemas['Invoice'];

const route = getRouteApi('/work/billing/invoices/$invoiceId');
const ASK_MILLISECONDS = 2_000;

export function InvoicePage() {
  const { t } = useTranslation('billing/invoices');
  const { invoiceId } = route.useParams();
  const query = $api.useQuery(
    'get',
    '/api/v1/billing/invoices/{invoice_id}',
    { params: { path: { invoice_id: invoiceId } } },
    {
      // The file is written in the background.
      refetchInterval: (polled) => {
        const invoice = polled.state.data?.data;
        const isComing = invoice?.status !== 'draft' && invoice?.pdf === null;
        return pollEvery(polled, ASK_MILLISECONDS, isComing);
      },
    },
  );
  if (isApiError(query.error, 'not_found')) return <NotFound />;
  if (query.data) return <InvoiceView invoice={query.data.data} />;
  return (
    <Page title={t('title')}>
      <ErrorAlert error={query.error} retry={() => void query.refetch()} />
      {query.isPending && <LoadingRows />}
    </Page>
  );
}

function InvoiceView({ invoice }: { invoice: Invoice }) {
  const { t } = useTranslation('billing/invoices');
  const period = usePeriod();
  const title = `${t(`kinds.${invoice.kind}`)} ${invoice.number ?? ''}`.trim();
  return (
    <Page
      title={title}
      description={period(invoice.period)}
      actions={<DownloadPdf invoice={invoice} />}
    >
      <Group gap="sm">
        <Button
          component={Link}
          to="/billing/invoices"
          variant="subtle"
          size="compact-sm"
          leftSection={<ArrowLeft size={14} />}
        >
          {t('back')}
        </Button>
        <InvoiceStatus invoice={invoice} />
        <Dates invoice={invoice} />
      </Group>
      {invoice.status === 'draft' && <Text size="sm">{t('draft_text')}</Text>}
      {invoice.status !== 'draft' && invoice.pdf === null && (
        <Text size="sm" role="status">
          {t('rendering')}
        </Text>
      )}
      <SimpleGrid cols={{ base: 1, sm: 2 }}>
        <Party title={t('parties.seller')} party={invoice.seller} />
        {invoice.buyer && <Party title={t('parties.buyer')} party={invoice.buyer} />}
      </SimpleGrid>
      <Panel title={t('lines.title')}>
        <LinesTable invoice={invoice} />
        {invoice.notes.map((note) => (
          <Text key={note} size="xs" c="dimmed" dir="auto">
            {note}
          </Text>
        ))}
      </Panel>
    </Page>
  );
}

function Dates({ invoice }: { invoice: Invoice }) {
  const { t } = useTranslation('billing/invoices');
  const { day, paymentDay } = useInvoiceDays();
  const { issued_at, due_at, paid_at, refers_to } = invoice;
  const dates = [
    issued_at !== null && t('dates.issued', { date: day(issued_at) }),
    due_at !== null && t('dates.due', { date: day(due_at) }),
    paid_at !== null && t('dates.paid', { date: paymentDay(paid_at) }),
  ];
  return (
    <>
      <Text size="xs" c="dimmed">
        {dates.filter((text) => text !== false).join(', ')}
      </Text>
      {refers_to !== null && (
        <Text size="xs">
          {`${t('dates.refers')}: `}
          <Anchor component={Link} to={`/billing/invoices/${refers_to}`} size="xs">
            {t('dates.open')}
          </Anchor>
        </Text>
      )}
    </>
  );
}

function Party({ title, party }: { title: string; party: Schemas['InvoiceParty'] }) {
  const { t } = useTranslation('billing/invoices');
  const { address } = party;
  const city = [address.postal_code, address.city].filter(Boolean).join(' ');
  return (
    <Panel title={title}>
      <Stack gap={2}>
        {[party.name, ...address.lines, city, address.country].map((line, index) => (
          <Text key={index} size="sm" dir="auto" ta="start">
            {line}
          </Text>
        ))}
        <Text size="xs" c="dimmed">
          {[party.tax_number && t('parties.tax_number', { number: party.tax_number }), party.email]
            .filter(Boolean)
            .join(' · ')}
        </Text>
      </Stack>
    </Panel>
  );
}
