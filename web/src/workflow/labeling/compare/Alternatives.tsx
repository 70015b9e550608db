import { Button, Group, Text } from '@mantine/core';
import { useTranslation } from 'react-i18next';
import { useEditor, useEditorState } from '../model/context';
import type { Field, LocalTag } from '../model/tags';
import { summarize } from '../model/values';
import { type Alternative, listAlternatives, type Source } from './compare';

const NONE: readonly LocalTag[] = [];
/** In a long table the first differences say enough. */
const MOST = 12;

function Row({ alternative, field }: { alternative: Alternative; field: Field }) {
  const { t } = useTranslation('workflow/labeling');
  const editor = useEditor();
  const { source, row, tags } = alternative;
  const column = editor.definitions.get(alternative.field);
  const place =
    row === null || !column ? '' : t('compare.place', { row: row + 1, column: column.label });
  const value = tags.map((tag) => summarize(tag, (column ?? field) as Field)).join(' · ');
  return (
    <Group gap={6} wrap="nowrap" align="baseline" data-alternative={source.key}>
      <Text size="xs" c="dimmed" style={{ flex: 1, minWidth: 0, overflowWrap: 'anywhere' }}>
        <Text span fw={600}>
          <bdi>{source.name}</bdi>
        </Text>{' '}
        {place} <bdi>{value === '' ? t('compare.empty') : value}</bdi>
      </Text>
      {!editor.readOnly && (
        <Button
          size="compact-xs"
          variant="default"
          aria-label={t('compare.take_label', {
            name: source.name,
            label: column?.label ?? field.label,
          })}
          onClick={() => editor.replacePlace(alternative, tags)}
        >
          {t('compare.take')}
        </Button>
      )}
    </Group>
  );
}

interface Props {
  field: Field;
  sources: readonly Source[];
  /** Leaves out where a source has nothing. */
  onlyValues?: boolean;
}

/** Below a field: what the prediction and other labelers have there, where it is something else. */
export function Alternatives({ field, sources, onlyValues = false }: Props) {
  const { t } = useTranslation('workflow/labeling');
  const tags = useEditorState((state) => state.byField.get(field.key) ?? NONE);
  const all = listAlternatives(field.key, tags, sources).filter(
    (one) => !onlyValues || one.tags.length > 0,
  );
  return (
    <>
      {all.slice(0, MOST).map((one) => (
        <Row
          key={`${one.source.key} ${one.field} ${one.row ?? ''}`}
          alternative={one}
          field={field}
        />
      ))}
      {all.length > MOST && (
        <Text size="xs" c="dimmed">
          {t('compare.more', { count: all.length - MOST })}
        </Text>
      )}
    </>
  );
}
