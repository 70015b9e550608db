import { ActionIcon, Button, Group, Menu, Paper, Stack, Text } from '@mantine/core';
import { ArrowDown, ArrowUp, Plus, Trash2 } from 'lucide-react';
import { type DragEvent, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { type DraftField, type FieldType, moveItem, newField, TYPES } from '../model';
import styles from './editor.module.css';

interface Props {
  fields: readonly DraftField[];
  current: string | undefined;
  select: (uid: string) => void;
  change: (fields: DraftField[]) => void;
  readOnly: boolean;
  failedPath: string | undefined;
  /** The path that errors have for the list: `fields`, or `fields.2.columns`. */
  path?: string;
  isColumns?: boolean;
}

/** Fields or columns in their order. They are moved by dragging, with buttons or with Alt and arrows. */
export function FieldList(props: Props) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { fields, change, select, readOnly, isColumns = false } = props;
  const add = (type: FieldType) => {
    const taken = fields.map(({ key }) => key);
    const field = newField(type, t(`type.${type}`), taken);
    change([...fields, field]);
    select(field.uid);
  };
  const types = isColumns ? TYPES.filter((type) => type !== 'table') : TYPES;
  return (
    <Stack gap={4}>
      <ol className={styles.list} aria-label={t(isColumns ? 'columns.title' : 'fields.title')}>
        {fields.map((field, index) => (
          <Item key={field.uid} {...props} field={field} index={index} />
        ))}
      </ol>
      {!readOnly && (
        <Menu position="bottom-start">
          <Menu.Target>
            <Button
              variant="default"
              size={isColumns ? 'compact-sm' : 'sm'}
              leftSection={<Plus size={14} aria-hidden />}
            >
              {t(isColumns ? 'columns.add' : 'fields.add')}
            </Button>
          </Menu.Target>
          <Menu.Dropdown mah={360} className={styles.menu}>
            {types.map((type) => (
              <Menu.Item key={type} onClick={() => add(type)}>
                {t(`type.${type}`)}
                <Text size="xs" c="dimmed">
                  {t(`type_hint.${type}`)}
                </Text>
              </Menu.Item>
            ))}
          </Menu.Dropdown>
        </Menu>
      )}
    </Stack>
  );
}

function useDragging({ fields, change }: Props, index: number) {
  const [over, setOver] = useState(false);
  const type = 'application/x-field';
  return {
    over,
    handlers: {
      draggable: true,
      onDragStart: (event: DragEvent) => {
        event.stopPropagation();
        event.dataTransfer.setData(type, fields[index]?.uid ?? '');
      },
      onDragOver: (event: DragEvent) => {
        if (!event.dataTransfer.types.includes(type)) return;
        event.preventDefault();
        setOver(true);
      },
      onDragLeave: () => setOver(false),
      onDrop: (event: DragEvent) => {
        event.preventDefault();
        setOver(false);
        const uid = event.dataTransfer.getData(type);
        const from = fields.findIndex((one) => one.uid === uid);
        if (from >= 0) change(moveItem(fields, from, index));
      },
    },
  };
}

function Item(props: Props & { field: DraftField; index: number }) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const { field, index, fields, current, select, change, readOnly } = props;
  const { failedPath, path = 'fields' } = props;
  const dragging = useDragging(props, index);
  const own = `${path}.${index}`;
  const failed = failedPath === own || failedPath?.startsWith(`${own}.`);
  const isCurrent = field.uid === current;
  const move = (step: number) => {
    const to = index + step;
    if (to >= 0 && to < fields.length) change(moveItem(fields, index, to));
  };
  return (
    <li>
      <Paper
        withBorder
        className={styles.item}
        data-current={isCurrent || undefined}
        data-over={dragging.over || undefined}
        data-failed={failed || undefined}
        {...(!readOnly && dragging.handlers)}
      >
        <button
          type="button"
          className={styles.choose}
          aria-current={isCurrent ? 'true' : undefined}
          aria-keyshortcuts="Alt+ArrowUp Alt+ArrowDown"
          onClick={() => select(field.uid)}
          onKeyDown={(event) => {
            if (readOnly || !event.altKey) return;
            if (event.key === 'ArrowUp') move(-1);
            else if (event.key === 'ArrowDown') move(1);
            else return;
            event.preventDefault();
          }}
        >
          <span dir="auto">{field.label || field.key}</span>
          <span className={styles.type}>
            {t(`type.${field.type}`)}
            {field.required && ` · ${t('required')}`}
          </span>
        </button>
        {!readOnly && isCurrent && <Buttons {...props} move={move} />}
      </Paper>
      {field.type === 'table' && !props.isColumns && <Columns {...props} path={`${own}.columns`} />}
    </li>
  );
}

type ButtonsProps = Props & { field: DraftField; index: number; move: (step: number) => void };

function Buttons({ field, index, fields, change, move }: ButtonsProps) {
  const { t } = useTranslation('schemas/artifact_schemas');
  const name = field.label || field.key;
  const button = { variant: 'subtle', size: 26 } as const;
  return (
    <Group gap={0} wrap="nowrap">
      <ActionIcon
        {...button}
        aria-label={t('fields.up', { name })}
        disabled={index === 0}
        onClick={() => move(-1)}
      >
        <ArrowUp size={14} aria-hidden />
      </ActionIcon>
      <ActionIcon
        {...button}
        aria-label={t('fields.down', { name })}
        disabled={index === fields.length - 1}
        onClick={() => move(1)}
      >
        <ArrowDown size={14} aria-hidden />
      </ActionIcon>
      <ActionIcon
        {...button}
        color="red"
        aria-label={t('fields.remove', { name })}
        onClick={() => change(fields.filter(({ uid }) => uid !== field.uid))}
      >
        <Trash2 size={14} aria-hidden />
      </ActionIcon>
    </Group>
  );
}

function Columns(props: Props & { field: DraftField; path: string }) {
  const { field, fields, change } = props;
  const changeColumns = (columns: DraftField[]) =>
    change(fields.map((one) => (one.uid === field.uid ? { ...one, columns } : one)));
  return (
    <div className={styles.columns}>
      <FieldList {...props} fields={field.columns} change={changeColumns} isColumns />
    </div>
  );
}
