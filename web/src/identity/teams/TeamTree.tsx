import {
  ActionIcon,
  Anchor,
  Avatar,
  Badge,
  Group,
  Paper,
  Stack,
  Text,
  Tooltip,
} from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { Link } from '@tanstack/react-router';
import { ChevronDown, ChevronRight, Plus } from 'lucide-react';
import { useTranslation } from 'react-i18next';
import type { Node } from './tree';
import classes from './TeamTree.module.css';

const FACES = 6;

interface TreeProps {
  nodes: readonly Node[];
  label?: string;
  onAdd: ((parentId: string) => void) | undefined;
}

/** The teams as a tree: each with its lead, its members and its skills. */
export function TeamTree({ nodes, label, onAdd }: TreeProps) {
  return (
    <ul className={classes['list']} aria-label={label}>
      {nodes.map((node) => (
        <Branch key={node.id} node={node} onAdd={onAdd} />
      ))}
    </ul>
  );
}

function Branch({ node, onAdd }: { node: Node; onAdd: TreeProps['onAdd'] }) {
  const { t } = useTranslation('identity/teams');
  const [opened, { toggle }] = useDisclosure(true);
  const { name, children } = node;
  return (
    <li>
      <Paper withBorder px="sm" py="xs" className={classes['card']}>
        <Group gap="xs" wrap="nowrap" align="flex-start" justify="space-between">
          <Group gap={4} wrap="nowrap" align="flex-start" miw={0}>
            {children.length > 0 && (
              <ActionIcon
                variant="subtle"
                color="gray"
                size="sm"
                aria-expanded={opened}
                aria-label={t(opened ? 'collapse' : 'expand', { name })}
                onClick={toggle}
              >
                {opened ? <ChevronDown size={16} /> : <ChevronRight size={16} />}
              </ActionIcon>
            )}
            <Summary node={node} />
          </Group>
          {onAdd && (
            <Tooltip label={t('new_below', { name })}>
              <ActionIcon
                variant="subtle"
                color="gray"
                aria-label={t('new_below', { name })}
                onClick={() => onAdd(node.id)}
              >
                <Plus size={16} />
              </ActionIcon>
            </Tooltip>
          )}
        </Group>
      </Paper>
      {opened && children.length > 0 && <TeamTree nodes={children} onAdd={onAdd} />}
    </li>
  );
}

function Summary({ node }: { node: Node }) {
  const { t } = useTranslation('identity/teams');
  return (
    <Stack gap={4} miw={0}>
      <Group gap="xs">
        <Anchor
          component={Link}
          to={`/teams/${node.id}`}
          size="sm"
          fw={600}
          dir="auto"
          style={{ overflowWrap: 'anywhere' }}
        >
          {node.name}
        </Anchor>
        <Text size="xs" c="dimmed">
          {t('members', { count: node.member_count })}
          {' · '}
          {node.lead ? <bdi>{t('lead_of', { name: node.lead.name })}</bdi> : t('no_lead')}
        </Text>
      </Group>
      {node.description !== '' && (
        <Text size="xs" c="dimmed" dir="auto">
          {node.description}
        </Text>
      )}
      <Group gap="xs">
        <Faces node={node} />
        {node.skills.map((skill) => (
          <Badge key={skill} size="sm" variant="default" tt="none" fw={400}>
            <span dir="auto">{skill}</span>
          </Badge>
        ))}
      </Group>
    </Stack>
  );
}

function Faces({ node }: { node: Node }) {
  const { t } = useTranslation('identity/teams');
  if (node.members.length === 0) return null;
  const rest = node.member_count - FACES;
  return (
    <Avatar.Group spacing={6} aria-hidden>
      {node.members.slice(0, FACES).map(({ user }) => (
        <Tooltip key={user.id} label={user.name}>
          <Avatar name={user.name} size={24} alt="" color="blue.9" variant="filled" />
        </Tooltip>
      ))}
      {rest > 0 && (
        <Tooltip label={t('more', { count: rest })}>
          <Avatar size={24} color="gray">{`+${rest}`}</Avatar>
        </Tooltip>
      )}
    </Avatar.Group>
  );
}
