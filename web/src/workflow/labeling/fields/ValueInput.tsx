import { type KeyboardEvent, type RefObject, useId, useRef } from 'react';
import { useTranslation } from 'react-i18next';
import { isComposing } from '@/kit/keys/matching';
import { useEditor, useEditorState } from '../model/context';
import { type Column, type Field, isUnconfirmed, type LocalTag, type Slot } from '../model/tags';
import { summarize, toText } from '../model/values';
import { Choices } from './Choices';
import classes from './Fields.module.css';
import { useSlotFocus } from './useSlotFocus';

interface Props {
  slot: Slot;
  tag: LocalTag | undefined;
  definition: Field | Column;
  label: string;
  /** The element that says what is expected, or what is wrong. */
  describedBy?: string | undefined;
  compact?: boolean;
}

const FEW_OPTIONS = 4;
const LONG = new Set(['text', 'address', 'span']);

function useProblem(tag: LocalTag | undefined): string | undefined {
  return useEditorState((state) => (tag ? state.problems.get(tag.id) : undefined));
}

function OptionSelect({ slot, tag, definition, label, describedBy }: Props) {
  const editor = useEditor();
  const element = useRef<HTMLSelectElement>(null);
  const { onFocus, onBlur } = useSlotFocus(slot, element);
  const value = toText(tag?.value);
  const isUnknown = value !== '' && !definition.options.some((one) => one.value === value);
  return (
    <select
      ref={element}
      className={classes.input}
      aria-label={label}
      aria-describedby={describedBy}
      aria-required={definition.required}
      value={value}
      disabled={editor.readOnly}
      onFocus={onFocus}
      onBlur={onBlur}
      onChange={(event) => {
        const chosen = event.currentTarget.value;
        if (chosen === '') editor.clear(slot);
        else editor.setValue(slot, chosen);
      }}
    >
      <option value="" />
      {isUnknown && <option value={value}>{value}</option>}
      {definition.options.map((option) => (
        <option key={option.value} value={option.value}>
          {option.label}
        </option>
      ))}
    </select>
  );
}

/** Spans and regions are places: they are chosen in the document and not typed. */
function PlaceInput({ slot, tag, definition, label, describedBy }: Props) {
  const { t } = useTranslation('workflow/labeling');
  const editor = useEditor();
  const element = useRef<HTMLTextAreaElement>(null);
  const { isActive, onFocus, onBlur } = useSlotFocus(slot, element);
  const hint = definition.type === 'span' ? t('field.choose_span') : t('field.draw_region');
  const text = tag ? (tag.typed ?? summarize(tag, definition)) : '';
  return (
    <textarea
      ref={element}
      rows={1}
      readOnly
      dir="auto"
      className={classes.input}
      aria-label={label}
      aria-describedby={describedBy}
      aria-required={definition.required}
      placeholder={isActive ? hint : undefined}
      value={text}
      onFocus={onFocus}
      onBlur={onBlur}
      onKeyDown={(event) => {
        if (event.key !== 'Backspace' && event.key !== 'Delete') return;
        if (tag) editor.clear(slot);
      }}
    />
  );
}

function TextValue({ slot, tag, definition, label, describedBy, compact }: Props) {
  const editor = useEditor();
  const element = useRef<HTMLTextAreaElement & HTMLInputElement>(null);
  const { onFocus, onBlur } = useSlotFocus(slot, element);
  const locked = useEditorState((state) => state.locked);
  const problem = useProblem(tag);
  const shared = {
    ref: element as RefObject<never>,
    dir: 'auto' as const,
    className: classes.input,
    'aria-label': label,
    'aria-describedby': describedBy,
    'aria-required': definition.required,
    'aria-invalid': problem !== undefined || undefined,
    title: compact ? problem : undefined,
    readOnly: editor.readOnly || locked,
    autoComplete: 'off',
    spellCheck: false,
    value: tag ? (tag.typed ?? toText(tag.value)) : '',
    onFocus,
    onBlur,
    onChange: (event: { currentTarget: { value: string } }) =>
      editor.type(slot, event.currentTarget.value),
  };
  if (!compact && LONG.has(definition.type)) return <textarea rows={1} {...shared} />;
  return <input type="text" {...shared} />;
}

function Control(props: Props) {
  const { t } = useTranslation('workflow/labeling');
  const { definition, compact, describedBy } = props;
  const { required } = definition;
  if (definition.type === 'boolean') {
    const options = [
      { value: true, label: t('field.yes') },
      { value: false, label: t('field.no') },
    ];
    return <Choices {...props} {...{ describedBy, required, options }} />;
  }
  if (definition.type === 'choice') {
    const isFew = definition.options.length <= FEW_OPTIONS && !compact;
    return isFew ? (
      <Choices {...props} {...{ describedBy, required }} options={definition.options} />
    ) : (
      <OptionSelect {...props} />
    );
  }
  if (definition.type === 'span' || definition.type === 'region') return <PlaceInput {...props} />;
  return <TextValue {...props} />;
}

/** The input of one value, whatever its type. Enter confirms it and goes to the next. */
export function ValueInput(props: Props) {
  const editor = useEditor();
  const { tag, compact, describedBy } = props;
  const problem = useProblem(tag);
  const problemId = useId();
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter' || isComposing(event.nativeEvent)) return;
    if (event.ctrlKey || event.metaKey || event.altKey || event.shiftKey) return;
    event.preventDefault();
    editor.confirmAndAdvance();
  };
  const described = [describedBy, problem === undefined ? undefined : problemId].filter(Boolean);
  return (
    // The keys are those of the input inside.
    // oxlint-disable-next-line jsx-a11y/no-static-element-interactions
    <div
      className={classes.value}
      data-unconfirmed={(tag && isUnconfirmed(tag)) || undefined}
      data-problem={problem !== undefined || undefined}
      onKeyDown={onKeyDown}
    >
      <Control {...props} describedBy={described.join(' ') || undefined} />
      {problem !== undefined && (
        <span id={problemId} className={compact ? classes.hidden : classes.problem}>
          {problem}
        </span>
      )}
    </div>
  );
}
