import { Text } from '@mantine/core';
import { memo, type ReactNode, useId } from 'react';
import { useTranslation } from 'react-i18next';
import { useEditor, useEditorState } from '../model/context';
import { type Field, type LocalTag, topKey } from '../model/tags';
import { colorOf } from '../page/colors';
import classes from './Fields.module.css';
import { TableField } from './TableField';
import { Value } from './Value';

const NONE: readonly LocalTag[] = [];

export interface FieldExtras {
  /** At the end of the label: comments. */
  badge?: (field: Field) => ReactNode;
  /** Below the values: what others have. */
  below?: (field: Field) => ReactNode;
}

interface Props extends FieldExtras {
  field: Field;
  position: number;
}

function Values({
  field,
  tags,
  describedBy,
}: {
  field: Field;
  tags: readonly LocalTag[];
  describedBy: string | undefined;
}) {
  const editor = useEditor();
  const hasNext = tags.length === 0 || (field.multiple && !editor.readOnly);
  // One list: the input that is typed into stays the same when its value begins to exist.
  const shown = hasNext ? [...tags, undefined] : tags;
  return shown.map((tag, index) => (
    <Value
      key={index}
      field={field}
      slot={{ field: field.key, row: null, index }}
      tag={tag}
      describedBy={describedBy}
    />
  ));
}

/** A field of the schema: its label, its guideline while it is active, and its values. */
export const FieldRow = memo(function FieldRow({ field, position, badge, below }: Props) {
  const { t } = useTranslation('workflow/labeling');
  const tags = useEditorState((state) => state.byField.get(field.key) ?? NONE);
  const isActive = useEditorState(
    (state) => state.active !== undefined && topKey(state.active.field) === field.key,
  );
  const isMissing = useEditorState((state) => state.missing.has(field.key)) && tags.length === 0;
  const hintId = useId();
  const hasHint = isActive && field.description !== '';
  const describedBy = hasHint || isMissing ? hintId : undefined;
  return (
    <section
      className={classes.field}
      data-active={isActive || undefined}
      data-missing={isMissing || undefined}
      aria-label={field.label}
    >
      <span
        className={classes.swatch}
        style={{ background: colorOf(position, 0.75) }}
        aria-hidden
      />
      <div className={classes.content} data-table={field.type === 'table' || undefined}>
        <div className={classes.head}>
          <Text size="xs" fw={600} className={classes.label}>
            <bdi>{field.label}</bdi>
            {field.required && (
              <Text span c="dimmed" fw={400} title={t('field.required')}>
                {' *'}
              </Text>
            )}
          </Text>
          {badge?.(field)}
        </div>
        <div className={classes.values}>
          {field.type === 'table' ? (
            <TableField field={field} tags={tags} />
          ) : (
            <Values field={field} tags={tags} describedBy={describedBy} />
          )}
          {below?.(field)}
          <div id={hintId}>
            {hasHint && (
              <Text size="xs" c="dimmed">
                <bdi>{field.description}</bdi>
              </Text>
            )}
            {isMissing && (
              <Text size="xs" c="var(--mantine-color-error)">
                {t('field.missing')}
              </Text>
            )}
          </div>
        </div>
      </div>
    </section>
  );
});
