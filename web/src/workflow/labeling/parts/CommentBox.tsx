import { Button, Group, Paper, Text, Textarea, UnstyledButton } from '@mantine/core';
import { type KeyboardEvent, useId, useRef, useState } from 'react';
import { useTranslation } from 'react-i18next';
import { ErrorAlert } from '@/kit/components/ErrorAlert';
import { holdChanges } from '@/kit/forms/unsaved';
import { isComposing } from '@/kit/keys/matching';
import { readSession } from '@/kit/session/store';
import { findMentions, matchMembers, type Mentionable, mentionAt } from './comments';

/** What was written and not sent yet, by user and place: the drawer may be closed by a key. */
const unsent = new Map<string, string>();
let release: (() => void) | undefined;

export function keepUnsent(place: string, body: string): void {
  const key = `${readSession()?.user.id ?? ''}/${place}`;
  if (body.trim() === '') unsent.delete(key);
  else unsent.set(key, body);
  release?.();
  release = unsent.size > 0 ? holdChanges(true) : undefined;
}

function readUnsent(place: string): string {
  return unsent.get(`${readSession()?.user.id ?? ''}/${place}`) ?? '';
}

interface Props {
  /** What is commented: a text that was not sent is there again when its box is opened. */
  place: string;
  label: string;
  button: string;
  members: readonly Mentionable[];
  error: unknown;
  isPending: boolean;
  /** It gets the focus of the drawer. */
  isFirst?: boolean;
  send: (body: string, mentions: string[]) => Promise<unknown>;
}

interface SuggestionsProps {
  id: string;
  members: readonly Mentionable[];
  chosen: number;
  choose: (member: Mentionable) => void;
}

function Suggestions({ id, members, chosen, choose }: SuggestionsProps) {
  const { t } = useTranslation('workflow/labeling');
  return (
    <Paper withBorder p={4} id={id} role="listbox" aria-label={t('comments.members')}>
      {members.map((member, at) => (
        <UnstyledButton
          key={member.id}
          id={`${id}-${at}`}
          role="option"
          aria-selected={at === chosen}
          p="2px 6px"
          w="100%"
          bg={at === chosen ? 'var(--mantine-color-blue-light)' : undefined}
          onMouseDown={(event) => event.preventDefault()}
          onClick={() => choose(member)}
        >
          <Text size="sm">
            <bdi>{member.name}</bdi>{' '}
            <Text span size="xs" c="dimmed">
              {member.email}
            </Text>
          </Text>
        </UnstyledButton>
      ))}
    </Paper>
  );
}

/** The text that is written, and the members that are offered after an @. */
function useMentions(members: readonly Mentionable[], place: string) {
  const [body, setBodyOnly] = useState(() => readUnsent(place));
  const [caret, setCaret] = useState(0);
  const [chosen, setChosen] = useState(0);
  const [picked, setPicked] = useState<readonly string[]>([]);
  const inputRef = useRef<HTMLTextAreaElement>(null);
  const setBody = (text: string) => {
    keepUnsent(place, text);
    setBodyOnly(text);
  };
  const mention = mentionAt(body, caret);
  const offered = mention ? matchMembers(members, mention.part) : [];

  const choose = (member: Mentionable) => {
    if (!mention) return;
    const before = `${body.slice(0, mention.from)}@${member.name} `;
    setBody(before + body.slice(caret));
    setCaret(before.length);
    setPicked([...picked, member.id]);
    setChosen(0);
    inputRef.current?.focus();
  };
  const edit = (text: string, position: number) => {
    // Other members are offered.
    if (text !== body) setChosen(0);
    setBody(text);
    setCaret(position);
  };
  const clear = () => {
    edit('', 0);
    setPicked([]);
  };
  const onMentionKey = (event: KeyboardEvent) => {
    const member = offered[chosen];
    if (!member || isComposing(event.nativeEvent)) return;
    if (event.key === 'Enter' || event.key === 'Tab') choose(member);
    else if (event.key === 'ArrowDown') setChosen((chosen + 1) % offered.length);
    else if (event.key === 'ArrowUp') setChosen((chosen + offered.length - 1) % offered.length);
    else return;
    event.preventDefault();
  };
  return { body, picked, offered, chosen, choose, edit, clear, inputRef, onMentionKey };
}

/** A comment that is being written; @ offers the members, Ctrl+Enter sends. */
export function CommentBox({
  place,
  label,
  button,
  members,
  error,
  isPending,
  isFirst,
  send,
}: Props) {
  const { t } = useTranslation('workflow/labeling');
  const { body, offered, chosen, choose, edit, clear, inputRef, picked, onMentionKey } =
    useMentions(members, place);
  const listId = useId();
  const isOffered = offered.length > 0;
  const submit = () => {
    if (body.trim() === '' || isPending) return;
    void send(body.trim(), findMentions(body, members, picked)).then(clear, () => undefined);
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) {
      onMentionKey(event);
      return;
    }
    event.preventDefault();
    event.stopPropagation();
    submit();
  };
  return (
    <div>
      <Textarea
        ref={inputRef}
        label={label}
        description={t('comments.hint')}
        rows={3}
        dir="auto"
        value={body}
        // What is typed while it is sent would be lost.
        readOnly={isPending}
        data-autofocus={isFirst || undefined}
        aria-autocomplete="list"
        aria-controls={isOffered ? listId : undefined}
        aria-activedescendant={isOffered ? `${listId}-${chosen}` : undefined}
        onChange={({ currentTarget }) => edit(currentTarget.value, currentTarget.selectionStart)}
        onSelect={({ currentTarget }) => edit(currentTarget.value, currentTarget.selectionStart)}
        onKeyDown={onKeyDown}
      />
      {isOffered && <Suggestions id={listId} members={offered} chosen={chosen} choose={choose} />}
      <ErrorAlert error={error} />
      <Group justify="flex-end" mt={6}>
        <Button size="xs" onClick={submit} loading={isPending} disabled={body.trim() === ''}>
          {button}
        </Button>
      </Group>
    </div>
  );
}
