import { Badge, Button, Divider, Drawer, Group, Stack, Text } from '@mantine/core';
import { useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { Part } from '@/kit/components/Part';
import { useFormat } from '@/kit/i18n/format';
import { Markdown } from '@/kit/markdown/Markdown';
import { useMay } from '@/kit/session/may';
import { CommentBox } from './CommentBox';
import { type Comment, groupThreads, type Mentionable, type Thread } from './comments';
import { useCommenting, useComments, useMembers } from './useComments';

interface Props {
  tagSetId: string;
  /** The field that a new thread is about; null for the tag set as a whole. */
  field: string | null | undefined;
  labelOf: (field: string) => string;
  close: () => void;
}

type Comments = ReturnType<typeof useComments>;

function Entry({ comment }: { comment: Comment }) {
  const format = useFormat();
  return (
    <div>
      <Group gap={6}>
        <Text size="xs" fw={600}>
          <bdi>{comment.author.name}</bdi>
        </Text>
        <Text size="xs" c="dimmed" title={format.dateTime(comment.created_at)}>
          {format.relative(comment.created_at)}
        </Text>
      </Group>
      <Markdown text={comment.body} />
    </div>
  );
}

function ThreadActions({
  first,
  tagSetId,
  comments,
  members,
}: {
  first: Comment;
  tagSetId: string;
  comments: Comments;
  members: readonly Mentionable[];
}) {
  const { t } = useTranslation('workflow/labeling');
  const { create, error, isPending } = useCommenting(tagSetId);
  const [isReplying, setReplying] = useState(false);
  const isResolved = first.resolved_at !== null;
  if (isReplying)
    return (
      <CommentBox
        place={first.id}
        label={t('comments.reply')}
        button={t('comments.send')}
        members={members}
        error={error}
        isPending={isPending}
        send={(body, mentions) =>
          create({ body, mentions, parent_id: first.id }).then(() => setReplying(false))
        }
      />
    );
  return (
    <Group gap="xs">
      <Button size="compact-xs" variant="default" onClick={() => setReplying(true)}>
        {t('comments.reply')}
      </Button>
      {!isResolved && (
        <Button
          size="compact-xs"
          variant="default"
          onClick={() => void comments.resolve(first.id).catch(() => undefined)}
        >
          {t('comments.resolve')}
        </Button>
      )}
    </Group>
  );
}

function ThreadView({
  thread,
  tagSetId,
  comments,
  members,
  label,
}: {
  thread: Thread;
  tagSetId: string;
  comments: Comments;
  members: readonly Mentionable[];
  label: string;
}) {
  const { t } = useTranslation('workflow/labeling');
  const may = useMay();
  const { first, replies } = thread;
  const isResolved = first.resolved_at !== null;
  return (
    <Stack gap={6} component="section" aria-label={label} opacity={isResolved ? 0.75 : 1}>
      <Group gap={6}>
        <Text size="sm" fw={600}>
          <bdi>{label}</bdi>
        </Text>
        {isResolved && (
          <Badge size="xs" color="green" variant="light">
            {t('comments.resolved')}
          </Badge>
        )}
      </Group>
      {[first, ...replies].map((comment) => (
        <Entry key={comment.id} comment={comment} />
      ))}
      {may('comments:write') && <ThreadActions {...{ first, tagSetId, comments, members }} />}
      <Divider />
    </Stack>
  );
}

interface NewThreadProps {
  tagSetId: string;
  field: string | null;
  name: string;
  members: readonly Mentionable[];
}

function NewThread({ tagSetId, field, name, members }: NewThreadProps) {
  const { t } = useTranslation('workflow/labeling');
  const { create, error, isPending } = useCommenting(tagSetId);
  return (
    <CommentBox
      place={`${tagSetId}/${field ?? ''}`}
      label={t('comments.new', { field: name })}
      button={t('comments.send')}
      members={members}
      error={error}
      isPending={isPending}
      isFirst
      send={(body, mentions) => create({ body, mentions, field })}
    />
  );
}

/** The discussion of a tag set, thread by thread, and a new thread at a field. */
export function CommentsDrawer({ tagSetId, field, labelOf, close }: Props) {
  const { t } = useTranslation(['workflow/labeling', 'kit']);
  const may = useMay();
  const opened = field !== undefined;
  const comments = useComments(tagSetId);
  const members = useMembers(opened).map(({ user }) => user);
  const nameOf = (name: string | null) => (name === null ? t('comments.whole') : labelOf(name));
  const threads = groupThreads(comments.comments);
  return (
    <Drawer
      opened={opened}
      onClose={close}
      position="right"
      title={t('comments.title')}
      closeButtonProps={{ 'aria-label': t('kit:close') }}
    >
      <Stack gap="md">
        {may('comments:write') && (
          <NewThread
            key={field}
            {...{ tagSetId, members }}
            field={field ?? null}
            name={nameOf(field ?? null)}
          />
        )}
        <ErrorAlert error={comments.error} />
        {comments.isRead && threads.length === 0 && (
          <Text size="sm" c="dimmed">
            {t('comments.none')}
          </Text>
        )}
        {threads.map((thread) => (
          <Part key={thread.first.id}>
            <ThreadView
              thread={thread}
              tagSetId={tagSetId}
              comments={comments}
              members={members}
              label={nameOf(thread.first.field)}
            />
          </Part>
        ))}
      </Stack>
    </Drawer>
  );
}
