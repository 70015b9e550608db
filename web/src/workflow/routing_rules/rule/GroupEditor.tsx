import { Button, CloseButton, Group as Row, SegmentedControl, Stack, Text } from '@mantine/core';
import { Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import { type Group, isGroup, MOST_LEVELS, newCondition, newGroup, type Node } from '../conditions';
import { ConditionEditor } from './ConditionEditor';
import styles from './rule.module.css';

export interface GroupEditorProps {
  group: Group;
  change: (group: Group) => void;
  errorOf: (field: string) => string | undefined;
  /** The position as errors name it: `conditions.all.1`. */
  path: string;
  level: number;
  readOnly: boolean;
}

/** Conditions of which all or any must hold; a group may be inside of another. */
export function GroupEditor(props: GroupEditorProps) {
  const { t } = useTranslation('workflow/routing_rules');
  const { group, change, level, readOnly } = props;
  const setItems = (items: Node[]) => change({ ...group, items });
  const replace = (uid: string, next: Node) =>
    setItems(group.items.map((item) => (item.uid === uid ? next : item)));
  return (
    <div
      className={styles.group}
      data-inner={level > 1 || undefined}
      role="group"
      aria-label={t(group.mode === 'all' ? 'group.all' : 'group.any')}
    >
      <Stack gap="xs">
        {group.items.length > 1 && (
          <SegmentedControl
            size="xs"
            disabled={readOnly}
            className={styles.mode}
            aria-label={t('group.mode')}
            data={[
              { value: 'all', label: t('group.all') },
              { value: 'any', label: t('group.any') },
            ]}
            value={group.mode}
            onChange={(mode) => change({ ...group, mode })}
          />
        )}
        {group.items.length === 0 && (
          <Text size="sm" c="dimmed">
            {t('group.empty')}
          </Text>
        )}
        {group.items.map((item, index) => (
          <Item
            key={item.uid}
            {...props}
            item={item}
            path={`${props.path}.${group.mode}.${index}`}
            replace={(next) => replace(item.uid, next)}
            remove={() => setItems(group.items.filter(({ uid }) => uid !== item.uid))}
          />
        ))}
        {!readOnly && <AddButtons add={(item) => setItems([...group.items, item])} level={level} />}
      </Stack>
    </div>
  );
}

type ItemProps = GroupEditorProps & {
  item: Node;
  replace: (next: Node) => void;
  remove: () => void;
};

function Item({ item, replace, remove, ...props }: ItemProps) {
  const { t } = useTranslation('workflow/routing_rules');
  return (
    <Row gap={4} wrap="nowrap" align="flex-start">
      <div className={styles.item}>
        {isGroup(item) ? (
          <GroupEditor {...props} group={item} change={replace} level={props.level + 1} />
        ) : (
          <ConditionEditor
            condition={item}
            change={replace}
            errorOf={(member) =>
              props.errorOf(member === '' ? props.path : `${props.path}.${member}`)
            }
            readOnly={props.readOnly}
          />
        )}
      </div>
      {!props.readOnly && (
        <CloseButton
          mt={4}
          aria-label={t(isGroup(item) ? 'group.remove' : 'condition.remove')}
          onClick={remove}
        />
      )}
    </Row>
  );
}

function AddButtons({ add, level }: { add: (item: Node) => void; level: number }) {
  const { t } = useTranslation('workflow/routing_rules');
  const icon = <Plus size={14} aria-hidden />;
  const button = { size: 'compact-sm', leftSection: icon } as const;
  return (
    <Row gap="xs">
      <Button {...button} variant="default" onClick={() => add(newCondition())}>
        {t('condition.add')}
      </Button>
      {level < MOST_LEVELS && (
        <Button
          {...button}
          variant="subtle"
          onClick={() => add(newGroup('any', [newCondition(), newCondition()]))}
        >
          {t('group.add')}
        </Button>
      )}
    </Row>
  );
}
