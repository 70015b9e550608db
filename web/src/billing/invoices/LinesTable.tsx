import { Table, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { writeAmount } from '@/billing/plan';
import type { Schemas } from '@/kit/api/types';
import { useFormat } from '@/kit/i18n/format';

interface Props {
  invoice: {
    currency: string;
    lines: readonly Schemas['InvoiceLine'][];
    subtotal: string;
    tax: Schemas['InvoiceTax'] | null;
    total: string;
  };
}

/** The lines of an invoice with the sums below them. */
export function LinesTable({ invoice }: Props) {
  const { t } = useTranslation('billing/invoices');
  const format = useFormat();
  const { currency, tax } = invoice;
  const write = (amount: string) => writeAmount(format.locale, amount, currency);
  return (
    <Table.ScrollContainer
      minWidth={520}
      type="native"
      role="region"
      aria-label={t('lines.title')}
      tabIndex={0}
    >
      <Table>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('lines.description')}</Table.Th>
            <Table.Th ta="end">{t('lines.quantity')}</Table.Th>
            <Table.Th ta="end">{t('lines.unit_price')}</Table.Th>
            <Table.Th ta="end">{t('lines.amount')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {invoice.lines.map((line, index) => (
            <Table.Tr key={index}>
              <Table.Td>
                <bdi>{line.description}</bdi>
              </Table.Td>
              <Table.Td ta="end">{format.number(Number(line.quantity))}</Table.Td>
              <Table.Td ta="end">{write(line.unit_price)}</Table.Td>
              <Table.Td ta="end">{write(line.amount)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
        <Table.Tfoot>
          <Sum name={t('lines.subtotal')} amount={write(invoice.subtotal)} />
          {tax && (
            <Sum
              name={t('lines.tax', {
                name: tax.name,
                rate: format.number(Number(tax.rate)),
                base: write(tax.base),
              })}
              amount={write(tax.amount)}
            />
          )}
          <Sum name={t('lines.total')} amount={write(invoice.total)} strong />
        </Table.Tfoot>
      </Table>
      {tax?.reason && (
        <Text size="xs" c="dimmed" mt={4}>
          {tax.reason}
        </Text>
      )}
    </Table.ScrollContainer>
  );
}

function Sum({ name, amount, strong }: { name: string; amount: string; strong?: boolean }) {
  return (
    <Table.Tr>
      <Table.Th colSpan={3} ta="end" fw={strong ? 600 : 400} scope="row">
        {name}
      </Table.Th>
      <Table.Td ta="end" fw={strong ? 600 : 400}>
        {amount}
      </Table.Td>
    </Table.Tr>
  );
}
