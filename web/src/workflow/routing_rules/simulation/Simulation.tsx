import { Button, Group, MultiSelect, Paper, Stack, Text, Title } from '@mantine/core';
import { useDebouncedValue } from '@mantine/hooks';
import { FlaskConical } from 'lucide-react';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { $api } from '@/kit/api/client';
import type { Schemas } from '@/kit/api/types';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { withFieldName } from '@/kit/forms/fieldErrors';
import { SimulatedDocument } from './SimulatedDocument';

interface Props {
  /** A rule that is being written: only this one is simulated. Otherwise all that are saved. */
  rule?: Schemas['SimulatedRule'];
}

const MOST = 100;
const NEWEST = 10;
const WAIT_MILLISECONDS = 250;

function useChoice() {
  const [ids, setIds] = useState<string[]>([]);
  const [names, setNames] = useState(new Map<string, string>());
  const [q, setQ] = useState('');
  const [searched] = useDebouncedValue(q, WAIT_MILLISECONDS);
  const { data } = $api.useQuery('get', '/api/v1/artifacts', {
    params: { query: { page_size: 50, ...(searched.trim() && { q: searched.trim() }) } },
  });
  const found = data?.data ?? [];
  const options = new Map(names);
  for (const { id, name } of found) options.set(id, name);
  const choose = (next: string[]) => {
    setIds(next);
    setNames(new Map(next.map((id) => [id, options.get(id) ?? id])));
  };
  const newest = () => choose(found.slice(0, NEWEST).map(({ id }) => id));
  return { ids, choose, newest, q, setQ, options };
}

/** Shows on real documents what the rules would do, and why. Nothing changes. */
export function Simulation({ rule }: Props) {
  const { t } = useTranslation('workflow/routing_rules');
  const choice = useChoice();
  const simulate = $api.useMutation('post', '/api/v1/routing-rules/simulate');
  const run = () =>
    simulate.mutate({ body: { artifact_ids: choice.ids, ...(rule && { rules: [rule] }) } });
  const documents = simulate.data?.data.documents;
  return (
    <Paper withBorder p="sm" component="section" aria-labelledby="simulation">
      <Stack gap="sm">
        <Title order={2} size="h5" id="simulation">
          {t('simulation.title')}
        </Title>
        <Text size="sm" c="dimmed">
          {t(rule ? 'simulation.text_rule' : 'simulation.text_saved')}
        </Text>
        <MultiSelect
          label={t('simulation.documents')}
          searchable
          clearable
          maxValues={MOST}
          nothingFoundMessage={t('simulation.none')}
          // The service searches; what it found is not filtered again.
          filter={({ options }) => options}
          searchValue={choice.q}
          onSearchChange={choice.setQ}
          data={[...choice.options].map(([value, label]) => ({ value, label }))}
          value={choice.ids}
          onChange={choice.choose}
        />
        <Group gap="xs">
          <Button
            leftSection={<FlaskConical size={16} aria-hidden />}
            disabled={choice.ids.length === 0}
            loading={simulate.isPending}
            onClick={run}
          >
            {t('simulation.run')}
          </Button>
          <Button variant="default" onClick={choice.newest}>
            {t('simulation.newest', { count: NEWEST })}
          </Button>
        </Group>
        <ErrorAlert error={withFieldName(simulate.error)} />
        {documents?.map((document, index) => (
          <SimulatedDocument key={document.artifact_id ?? index} document={document} />
        ))}
      </Stack>
    </Paper>
  );
}
