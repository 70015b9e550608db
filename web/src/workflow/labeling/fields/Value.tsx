import { ActionIcon, Group, Text, Tooltip } from '@mantine/core';
import { Check, X } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { useFormat } from '@/kit/i18n/format';
import { useEditor } from '../model/context';
import { type Field, isUnconfirmed, type LocalTag, type Slot } from '../model/tags';
import { describeValue } from '../model/values';
import classes from './Fields.module.css';
import { ValueInput } from './ValueInput';

/** A prediction below this is shown as doubtful. */
const DOUBTFUL = 0.5;

function Confidence({ tag, slot, label }: { tag: LocalTag; slot: Slot; label: string }) {
  const { t } = useTranslation('workflow/labeling');
  const format = useFormat();
  const editor = useEditor();
  const confidence = tag.confidence ?? undefined;
  return (
    <>
      <Text
        size="xs"
        className={classes.confidence}
        data-doubtful={(confidence !== undefined && confidence < DOUBTFUL) || undefined}
      >
        {confidence === undefined
          ? t('field.predicted')
          : t('field.confidence', { confidence: format.percent(confidence) })}
      </Text>
      {!editor.readOnly && (
        <Tooltip label={t('field.confirm_key')}>
          <ActionIcon
            size="sm"
            variant="subtle"
            tabIndex={-1}
            aria-label={t('field.confirm', { label })}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => {
              editor.focus(slot);
              editor.confirmAndAdvance();
            }}
          >
            <Check size={14} />
          </ActionIcon>
        </Tooltip>
      )}
    </>
  );
}

/** One value of a field with what belongs to it: how it is read, its confidence, taking it away. */
export function Value({
  field,
  slot,
  tag,
  describedBy,
}: {
  field: Field;
  slot: Slot;
  tag: LocalTag | undefined;
  describedBy: string | undefined;
}) {
  const { t } = useTranslation('workflow/labeling');
  const editor = useEditor();
  const format = useFormat();
  const label =
    slot.index > 0 ? t('field.nth', { label: field.label, number: slot.index + 1 }) : field.label;
  const reading =
    tag && tag.typed === undefined ? describeValue(tag.value, field, format) : undefined;
  return (
    <div>
      <Group gap={4} wrap="nowrap" align="flex-start">
        <ValueInput
          slot={slot}
          tag={tag}
          definition={field}
          label={label}
          describedBy={describedBy}
        />
        {tag && isUnconfirmed(tag) && <Confidence tag={tag} slot={slot} label={label} />}
        {tag && !editor.readOnly && (
          <ActionIcon
            size="sm"
            mt={4}
            variant="subtle"
            color="gray"
            c="dimmed"
            tabIndex={-1}
            aria-label={t('field.clear', { label })}
            onMouseDown={(event) => event.preventDefault()}
            onClick={() => editor.clear(slot)}
          >
            <X size={14} />
          </ActionIcon>
        )}
      </Group>
      {reading !== undefined && (
        <Text size="xs" c="dimmed" pl={8}>
          {reading}
        </Text>
      )}
    </div>
  );
}
