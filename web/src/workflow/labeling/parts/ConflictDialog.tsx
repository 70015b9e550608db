import {
  Badge,
  Button,
  Group,
  ScrollArea,
  Stack,
  Table,
  Text,
  UnstyledButton,
} from '@mantine/core';
import { useMemo, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { Dialog } from '@/kit/components/Dialog';
import { useKeys } from '@/kit/keys/keys';
import {
  applyChoices,
  type Choice,
  compareThree,
  defaultChoice,
  type Difference,
} from '../model/merge';
import type { Conflict } from '../model/saver';
import type { Column, Field, LocalTag } from '../model/tags';
import { summarize } from '../model/values';
import classes from './Parts.module.css';

type Definitions = ReadonlyMap<string, Field | Column>;

function Side({
  tags,
  definition,
}: {
  tags: readonly LocalTag[];
  definition: Field | Column | undefined;
}) {
  const { t } = useTranslation('workflow/labeling');
  if (tags.length === 0)
    return (
      <Text size="sm" c="dimmed">
        {t('conflict.empty')}
      </Text>
    );
  return tags.map((tag) => (
    <Text key={tag.id} size="sm" dir="auto" style={{ overflowWrap: 'anywhere' }}>
      {summarize(tag, definition as Field | undefined)}
    </Text>
  ));
}

interface RowProps {
  difference: Difference;
  definition: Field | Column | undefined;
  choice: Choice;
  choose: (choice: Choice) => void;
}

function Row({ difference, definition, choice, choose }: RowProps) {
  const { t } = useTranslation('workflow/labeling');
  const side = (name: Choice) => (
    <Table.Td>
      <UnstyledButton
        role="radio"
        aria-checked={choice === name}
        aria-label={t(`conflict.take_${name}`)}
        className={classes.side}
        onClick={() => choose(name)}
      >
        <Side tags={difference[name]} definition={definition} />
      </UnstyledButton>
    </Table.Td>
  );
  return (
    <Table.Tr data-field={difference.field}>
      <Table.Th scope="row">
        <Text size="sm" fw={600}>
          <bdi>{definition?.label ?? difference.field}</bdi>
        </Text>
        {difference.row !== null && (
          <Text size="xs" c="dimmed">
            {t('conflict.row', { row: difference.row + 1 })}
          </Text>
        )}
        {difference.conflict && (
          <Badge size="xs" color="red" variant="light">
            {t('conflict.both')}
          </Badge>
        )}
      </Table.Th>
      <Table.Td>
        <Side tags={difference.before} definition={definition} />
      </Table.Td>
      {side('mine')}
      {side('theirs')}
    </Table.Tr>
  );
}

interface ComparisonProps {
  differences: readonly Difference[];
  definitions: Definitions;
  choices: ReadonlyMap<string, Choice>;
  choose: (key: string, choice: Choice) => void;
}

function Comparison({ differences, definitions, choices, choose }: ComparisonProps) {
  const { t } = useTranslation('workflow/labeling');
  return (
    <ScrollArea.Autosize mah="50vh">
      <Table verticalSpacing={4}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t('conflict.field')}</Table.Th>
            <Table.Th>{t('conflict.before')}</Table.Th>
            <Table.Th>{t('conflict.mine')}</Table.Th>
            <Table.Th>{t('conflict.theirs')}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {differences.map((one) => (
            <Row
              key={one.key}
              difference={one}
              definition={definitions.get(one.field)}
              choice={choices.get(one.key) ?? defaultChoice(one)}
              choose={(choice) => choose(one.key, choice)}
            />
          ))}
        </Table.Tbody>
      </Table>
    </ScrollArea.Autosize>
  );
}

interface Props {
  conflict: Conflict;
  definitions: Definitions;
  resolve: (merged: readonly LocalTag[]) => void;
}

/** Two versions of the same draft: before, mine and theirs side by side, and one choice per field. */
export function ConflictDialog({ conflict, definitions, resolve }: Props) {
  const { t } = useTranslation('workflow/labeling');
  const differences = useMemo(
    () => compareThree(conflict.before, conflict.mine, conflict.theirs),
    [conflict],
  );
  const [choices, setChoices] = useState<ReadonlyMap<string, Choice>>(new Map());
  const chooseAll = (choice: Choice) =>
    setChoices(new Map(differences.map(({ key }) => [key, choice])));
  const apply = () => resolve(applyChoices(conflict.theirs, differences, choices));
  useKeys(t('conflict.title'), [
    {
      keys: 'mod+Enter',
      text: t('conflict.apply'),
      run: apply,
      inDialogs: true,
      inInputs: true,
    },
  ]);
  return (
    <Dialog
      onClose={() => undefined}
      withCloseButton={false}
      closeOnEscape={false}
      size="xl"
      title={t('conflict.title')}
    >
      <Stack>
        <Text size="sm">{t('conflict.text')}</Text>
        <Comparison
          differences={differences}
          definitions={definitions}
          choices={choices}
          choose={(key, choice) => setChoices(new Map(choices).set(key, choice))}
        />
        <Group justify="space-between">
          <Group gap="xs">
            <Button variant="default" size="xs" onClick={() => chooseAll('mine')}>
              {t('conflict.all_mine')}
            </Button>
            <Button variant="default" size="xs" onClick={() => chooseAll('theirs')}>
              {t('conflict.all_theirs')}
            </Button>
          </Group>
          <Button onClick={apply} data-autofocus>
            {t('conflict.apply')}
          </Button>
        </Group>
      </Stack>
    </Dialog>
  );
}
